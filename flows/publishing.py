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
    chain = build.construction
    return Publication(
        name=build.settings.release.name,
        version=build.settings.release.version,
        selection=chain.selection,
        source=build.source,
        blobs=build.store.blobs,
        screened=chain.merged("screen"),
        edited=chain.merged("edit"),
        measured=chain.merged("measure"),
        localized=chain.merged("localize"),
        judged=chain.merged("judge"),
        decided=chain.merged("decide"),
        stages=chain.stages,
        provenance={},
        draw=chain.draw(),
    )
