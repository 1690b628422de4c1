"""Publishes what a build came to, as the last task run of its flow."""

from __future__ import annotations

from dataclasses import replace

from prefect import task
from prefect.runtime import flow_run

from flows.assembly import Build
from tasks.provenance import provenance
from tasks.publication import Publication
from tasks.publish import Published, publish


def publish_release(build: Build) -> Published:
    """Publish the build's release; raises what `tasks.publish.publish` raises."""

    @task(name="publish", task_run_name="publish")
    def publish_results() -> tuple[Published]:
        made_by = provenance(build.settings.model_dump(mode="json"), {"flow_run": flow_run.id, "name": flow_run.name})
        publication = replace(publication_of(build), provenance=made_by)
        return (publish(publication, build.settings.releases, build.settings.release.allow_incomplete),)

    return publish_results()[0]


def publication_of(build: Build) -> Publication:
    """Return everything that the stages came to, without its provenance: that asks git and every package."""
    results = build.construction.results
    return Publication(
        name=build.settings.release.name,
        version=build.settings.release.version,
        selection=build.construction.selection,
        source=build.source,
        blobs=build.store.blobs,
        screened=results["screen"],
        edited=results["edit"],
        measured=results["measure"],
        localized=results["localize"],
        judged=results["judge"],
        decided=results["decide"],
        stages=build.construction.stages,
        provenance={},
    )
