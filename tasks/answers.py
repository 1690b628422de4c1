"""What each planner answered: built-in ones from the ledger, others from a file, bound to the pixels it was made from.

A file's row that names a component digest or the digest of its inputs must name the release's own: predictions made
from other pixels are refused, not scored. Rows that name neither are accepted, and the evaluation says that they are
not bound to pixels.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from data_registry.evaluation import VARIANTS, Predicted
from data_registry.plain_files import special_kind
from data_registry.records import Prediction
from models.planners.planner import Case, Planner
from tasks.evaluation import EvaluatedPlanner, EvaluationError, check_evaluation_name
from tasks.json_lines import quoted
from tasks.predict import predictions
from tasks.score_files import PredictedRow, encode_predictions, read_predictions
from tasks.stage import StageResults

_SHOWN: Final = 10


class AnswersError(EvaluationError):
    """A file of predictions cannot be used: it is named wrongly, or its predictions are not about this release."""


@dataclass(frozen=True, slots=True)
class AnswersFile:
    """A file with the predictions of a planner that ran elsewhere."""

    planner: str
    path: Path


@dataclass(frozen=True, slots=True)
class Answers:
    """One planner's predictions, ready to be scored."""

    planner: EvaluatedPlanner
    predicted: tuple[Predicted, ...]
    """At most one for each case; a case without one is missing."""
    content: bytes
    """The same as JSON lines, as the evaluation keeps them."""


def parse_answers_option(text: str) -> AnswersFile:
    """Read `NAME=FILE`.

    Raises:
        AnswersError: it has no `=`, or the file is not there or not a plain one.
        EvaluationNameError: the name is not possible for a planner.
    """
    name, equals, path = text.partition("=")
    if not equals or not path:
        raise AnswersError(f"--predictions takes NAME=FILE, got {text[:200]!r}")
    if kind := special_kind(Path(path)):
        raise AnswersError(f"{path} is {kind}, not a plain file: write the predictions to a file and name that")
    if not Path(path).is_file():
        raise AnswersError(f"there is no file of predictions {path}: name it as --predictions {name}=FILE")
    return AnswersFile(check_evaluation_name(name), Path(path))


def require_distinct(names: Iterable[str]) -> None:
    """Raise AnswersError when two planners of an evaluation have one name."""
    twice = sorted(name for name, count in Counter(names).items() if count > 1)
    if twice:
        raise AnswersError(
            f"two planners are called {', '.join(twice)}: give predictions from files names of their own, other than"
            " those of the built-in planners"
        )


def built_in_answers(planner: Planner, results: StageResults[Case, Prediction], cases: Sequence[Case]) -> Answers:
    """Return what a built-in planner said to the cases: bound to their pixels by the stage that asked it."""
    records = sorted(predictions(results), key=lambda record: (record.pair_id, record.variant))
    predicted = tuple(_predicted(record) for record in records)
    settings = planner.identity_settings
    told = EvaluatedPlanner(
        name=settings.name,
        knows_region=planner.knows_region,
        settings=settings.model_dump(mode="json"),
        bound=True,
        statuses=_statuses(predicted, cases),
    )
    return Answers(told, predicted, encode_predictions(records))


def answers_of_file(file: AnswersFile, cases: Sequence[Case]) -> Answers:
    """Read the predictions of a planner that ran elsewhere; what its rows say beside them is not kept.

    Raises:
        PredictionsFileError: rows cannot be read, or are about unknown or repeated cases.
        AnswersError: rows were made from other pixels than the release's, or name another planner.
    """
    rows = read_predictions(file.path, {case.pair_id for case in cases})
    _refuse_others(file, rows)
    _refuse_strange(file, rows, cases)
    predicted = tuple(sorted(rows, key=lambda row: (row.pair_id, row.variant)))
    told = EvaluatedPlanner(
        name=file.planner,
        knows_region=False,
        settings=None,
        bound=_are_bound([row for row in rows if row.status == "ok"]),
        statuses=_statuses(predicted, cases),
    )
    return Answers(told, predicted, encode_predictions(predicted))


def _are_bound(rows: Sequence[PredictedRow]) -> bool:
    """Tell whether there are trajectories and all say from which pixels they are: nothing is bound where none is."""
    return bool(rows) and all(row.inputs_sha256 for row in rows)


def why_unbound(planner: EvaluatedPlanner) -> str:
    """Return in words why a planner is not bound to pixels; empty when it is."""
    if planner.bound:
        return ""
    is_any = any(counts.get("ok", 0) for counts in planner.statuses.values())
    return "rows without inputs_sha256" if is_any else "no ok row"


def _refuse_others(file: AnswersFile, rows: Sequence[PredictedRow]) -> None:
    """Raise AnswersError when rows say that they are another planner's: files that were mixed up become wrong ranks."""
    other = next((row for row in rows if row.planner not in (None, file.planner)), None)
    if other is not None:
        raise AnswersError(
            f"predictions {file.path} were given as {file.planner}, but line {other.line} says that they are of planner"
            f" {quoted(other.planner or '')}: name the planner so (--predictions NAME=FILE), or name the file that is"
            f" meant; a name that --predictions does not take must leave the rows' field `planner`"
        )


def _refuse_strange(file: AnswersFile, rows: Sequence[PredictedRow], cases: Sequence[Case]) -> None:
    known = {(case.pair_id, case.variant): case for case in cases}
    problems = [problem for row in rows for problem in _strange(row, known[row.pair_id, row.variant])]
    if problems:
        more = f"\n  and {len(problems) - _SHOWN} more" if len(problems) > _SHOWN else ""
        listed = "".join(f"\n  {problem}" for problem in problems[:_SHOWN])
        raise AnswersError(
            f"predictions {file.path} of {file.planner} were not made from this release's pictures:{listed}{more}\n"
            "Write its cases again (`exceptiondrive cases RELEASE OUT`), predict on them, and repeat component_digest"
            " and inputs_sha256 of each case in its prediction"
        )


def _strange(row: PredictedRow, case: Case) -> Iterator[str]:
    """Yield where a row names other content than the release has."""
    for name, told, own in (
        ("component_digest", row.component_digest, case.component_digest),
        ("inputs_sha256", row.inputs_sha256, case.inputs_sha256),
    ):
        if told is not None and told != own:
            yield f"line {row.line}: {name} is {told[:12]}.., the {case.variant} case of the pair has {own[:12]}.."


def _predicted(record: Prediction) -> Predicted:
    if record.status != "ok":
        return Predicted(record.pair_id, record.variant, record.status, reason=record.reason)
    heading = None if record.heading is None else np.array(record.heading)
    return Predicted(record.pair_id, record.variant, "ok", np.array(record.t), np.array(record.xy), heading)


def _statuses(predicted: Sequence[Predicted], cases: Sequence[Case]) -> Mapping[str, Mapping[str, int]]:
    """Count for each variant how predictions came out, as they say themselves; flaws are scoring's business."""
    counts: dict[str, Any] = {}
    for variant in VARIANTS:
        found = Counter(str(one.status) for one in predicted if one.variant == variant)
        found["missing"] += sum(case.variant == variant for case in cases) - found.total()
        counts[variant] = {status: found[status] for status in sorted(found) if found[status]}
    return counts
