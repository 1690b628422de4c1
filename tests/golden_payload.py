"""Golden payloads: a stage's output for a fixed input, stored with the stage's version."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from data_registry.records import Record

GOLDEN = Path(__file__).parent / "golden"


def check_golden(stage: Any, name: str, record: Record) -> None:
    """Compare a record with `golden/<stage>/<name>.json`; write the file instead when UPDATE_GOLDEN=1 is set."""
    path = GOLDEN / stage.name / f"{name}.json"
    found = {
        "stage": stage.name,
        "version": stage.version,
        "digest": record.payload_digest,
        "payload": record.model_dump(mode="json"),
    }
    if os.environ.get("UPDATE_GOLDEN") == "1":
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    stored = json.loads(path.read_text(encoding="utf-8"))
    same_version = stored["version"] == stage.version
    assert stored["digest"] == found["digest"] or not same_version, (
        f"stage {stage.name} gives another payload for the same input: raise its `version` (now {stage.version}), or"
        f" stored results would be reused wrongly; then run the test with UPDATE_GOLDEN=1 and commit {path.name}"
    )
    assert same_version, (
        f"{path.name} was made by version {stored['version']} of stage {stage.name}, which is now {stage.version}:"
        " run the test with UPDATE_GOLDEN=1 and commit the file"
    )
    assert stored["payload"] == json.loads(json.dumps(found["payload"])), f"{path.name} does not hold what it digests"
