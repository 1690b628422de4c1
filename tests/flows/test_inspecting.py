"""Commands that look at a release: what they refuse before any work is spent."""

from __future__ import annotations

from pathlib import Path

import pytest

from data_registry.materialize import UnknownPairError
from flows.inspecting import materialize_release
from flows.options import BuildOptions
from tasks.publish import publish
from tests.tasks.publications import build


def test_an_unknown_pair_is_refused_before_the_embedded_logs_are_written(tmp_path: Path) -> None:
    release = publish(build(tmp_path / "made"), tmp_path / "releases").path
    options = BuildOptions("sample", store=str(tmp_path / "store"))
    with pytest.raises(UnknownPairError, match="has no pair ''; its table pairs lists the ids"):
        materialize_release(release, tmp_path / "out", options, [""], as_json=False)
    assert not (tmp_path / "store").exists()
