"""Stage screen: does this task suit this keyframe, and where would its hazard go?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar

from data_registry.records import Screening
from models.screeners import Screener
from tasks.items import Combination
from tasks.stage import ItemStage, Outcome


class ScreenStage(ItemStage[Combination, Screening]):
    """Keyframe x task -> Screening; an unsuitable combination is rejected with its record."""

    name: ClassVar[str] = "screen"
    version: ClassVar[int] = 3
    record = Screening

    def __init__(self, screener: Screener) -> None:
        """Take the back end that decides."""
        self.backend = self.screener = screener

    def process(self, items: Sequence[Combination]) -> Iterable[Outcome[Screening]]:
        """Yield one screening per combination."""
        for item in items:
            found = self.screener.screen(item.keyframe, item.task)
            yield Outcome(found, found.suitable, found.reason_code)
