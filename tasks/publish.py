"""Publish: from what the stages came to, to a release on disk. The last step of the build, and a pure one.

The same results give the same bytes, whatever their order: rows are sorted by key, pictures lie under their pair's id,
and nothing covered by the manifest knows when, where or in how many pieces the build ran. That is in lock.json.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from data_registry.components.hazards import HAZARDS
from data_registry.manifest import check_name, check_version
from data_registry.release_writer import Draft, DraftComponent, Published, write_release
from tasks.distribution import strata
from tasks.publication import Publication, funnel, refuse_incomplete
from tasks.release_documents import Documents
from tasks.release_rows import Pair, delta_paths, frames, pairs_of

__all__ = ["Publication", "Published", "publish"]


def publish(publication: Publication, releases: Path, allow_incomplete: bool = False) -> Published:
    """Write the release `<releases>/<name>/<version>`, or find that it is there already.

    Args:
        publication: everything that the stages came to.
        releases: folder of all releases.
        allow_incomplete: let a pre-release version lack items that have no result; its manifest says complete = false.

    Raises:
        ReleaseNameError: the name or version is not possible.
        IncompleteError: items have no result, and that was not allowed.
        ReconciliationError: items got lost between stages.
        PublicationError, ReleasePathError: records do not fit each other, their pictures, or a safe path.
        ReleaseExistsError: the final version exists with other content.
        StorageFullError, ReleaseUnwritableError: nothing was written.
    """
    check_name(publication.name)
    check_version(publication.version)
    refuse_incomplete(publication, allow_incomplete)
    counts = funnel(publication)
    pairs = pairs_of(publication)
    tables = frames(publication, pairs)
    draft = Draft(
        name=publication.name,
        version=publication.version,
        complete=publication.complete,
        components=(DraftComponent(HAZARDS, tables, _pictures(publication, pairs), counts, strata(publication)),),
        documents=Documents(publication, tables, counts).make,
        made_by=_made_by(publication),
    )
    return write_release(draft, releases)


def _pictures(publication: Publication, pairs: list[Pair]) -> dict[str, Callable[[], bytes]]:
    """Return the deltas and masks by path, each loaded when it is written."""
    return {
        path: partial(publication.blobs.get, blob)
        for pair in pairs
        for view in pair.candidate.views
        for path, blob in delta_paths(pair, view).values()
    }


def _made_by(publication: Publication) -> dict[str, Any]:
    """Return what lock.json says: the caller's provenance, and what the publication itself knows."""
    source = publication.source
    combinations = [entry.item for entry in publication.screened.settled]
    return {
        "source": {"dataset": source.dataset, "fingerprint": source.fingerprint(), "licence": source.licence.spdx},
        "stages": {
            name: {
                "version": stage.version,
                "backend": stage.backend.identity_settings.model_dump(mode="json"),
            }
            for name, stage in publication.stages.items()
        },
        "tasks": {combination.task.id: combination.task.payload_digest for combination in combinations},
        **publication.provenance,
    }
