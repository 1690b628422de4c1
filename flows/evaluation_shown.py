"""What an evaluation shows of itself: its flow's outcome, and artifacts with leaderboard, coverage and links."""

from __future__ import annotations

import shlex
from typing import Any

from prefect import task
from prefect.logging import get_run_logger

from flows import artifacts
from flows.artifacts import Link, Row
from flows.evaluation_assembly import Evaluating
from flows.evaluation_text import reasons_text, settings_text, with_interval
from tasks.answers import why_unbound
from tasks.evaluation import REPORT, WrittenEvaluation
from tasks.evaluation_content import Counted, Scored, standings
from tasks.score import failures
from tasks.score_statistics import conflict_rates
from tasks.score_statistics.intervals import Estimate

_OVERALL = "overall"


def outcome(work: Evaluating, scored: Scored, counted: Counted, written: WrittenEvaluation) -> dict[str, Any]:
    """Return what the flow says at its end, as JSON."""
    manifest, folder = work.release.manifest, work.shown_home / written.path.name
    return {
        "path": str(folder),
        "report": str(folder / REPORT),
        "digest": written.digest,
        "was_there": written.was_there,
        "name": work.name,
        "release": {"name": manifest.name, "version": manifest.version, "digest": work.release.digest},
        "pairs": len(scored.regions),
        "settings": scored.settings.model_dump(mode="json"),
        "leaderboard": [
            {
                "rank": line.rank,
                "planner": line.planner,
                "knows_region": line.knows_region,
                "bound": scored.answers[line.planner].planner.bound,
                "why_unbound": why_unbound(scored.answers[line.planner].planner),
                "hcc": _numbers(line.hcc),
                "ur": _numbers(line.ur),
                "hpr": _numbers(line.hpr),
            }
            for line in standings(scored, counted)
        ],
        "coverage": [
            {**row, "failures": failures(scored.scores[row["planner"]])}
            for row in counted.coverage.filter(level=_OVERALL).drop("level", "group").sort("planner").to_dicts()
        ],
        "conflict_rates": [
            {"planner": one.planner, "ur": _numbers(one.rate) if one.rate else None, "reason": one.reason}
            for one in conflict_rates(counted.summary)
        ],
    }


def show_evaluation(found: dict[str, Any]) -> None:
    """Publish leaderboard, coverage, a link to the report, and an index of these."""

    @task(name="show results", task_run_name="show results")
    def show() -> None:
        text = "Mean over pairs with 95 % interval; failed predictions count as the worst; oracles have no rank"
        links = [_link("leaderboard", artifacts.publish_table("leaderboard", leaderboard_rows(found), text), text)]
        text = "Of all benchmark pairs: scored, failed, and those that a planner cannot take"
        links.append(_link("coverage", artifacts.publish_table("coverage", coverage_rows(found), text), text))
        text = "Where the report lies: one HTML file, which opens in any browser"
        links.append(_link("report", artifacts.publish_markdown("report", report_markdown(found), text), text))
        release = found["release"]
        index = artifacts.index_markdown(f"Planners on {release['name']} {release['version']}", links)
        artifacts.publish_markdown("index", index, "Start here: everything that this evaluation made")
        get_run_logger().info("evaluation %s, report %s; start with artifact `index`", found["path"], found["report"])

    show()


def leaderboard_rows(found: dict[str, Any]) -> list[Row]:
    """Return a row for each planner, best first, oracles last."""
    return [
        {
            "rank": line["rank"] or ("oracle" if line["knows_region"] else "-"),
            "planner": line["planner"],
            **{name.upper(): with_interval(line[name]) for name in ("hcc", "ur", "hpr")},
            "pairs": line["hcc"]["n"],
            "bound to pixels": "yes" if line["bound"] else "no",
        }
        for line in found["leaderboard"]
    ]


def coverage_rows(found: dict[str, Any]) -> list[Row]:
    """Return a row for each planner: how many pairs its scores are about, and why others failed."""
    return [{**row, "failures": reasons_text(row["failures"]) or "-"} for row in found["coverage"]]


def report_markdown(found: dict[str, Any]) -> str:
    """Return where the evaluation lies, and what the release itself puts in planners' way."""
    release, folder = found["release"], found["path"]
    rates = [
        f"- {artifacts.escaped(one['planner'])}: {with_interval(one['ur'])}"
        for one in found["conflict_rates"]
        if one["ur"]
    ]
    return "\n".join(
        [
            f"## {artifacts.escaped(release['name'])} {artifacts.escaped(release['version'])}",
            *("", "Report:", "", "```", found["report"], "```"),
            *("", f"Scored with {settings_text(found['settings'])}."),
            *("", "Evaluation and its digest:", "", "```", folder, found["digest"], "```"),
            *("", "Or from a terminal:", "", "```", f"xdg-open {shlex.quote(found['report'])}", "```"),
            *(["", "Conflict rate, UR of planners that do not look:", "", *rates] if rates else []),
        ]
    )


def _numbers(estimate: Estimate) -> dict[str, Any]:
    return {
        "mean": estimate.mean,
        "low": estimate.low,
        "high": estimate.high,
        "n": estimate.n,
        "scenes": estimate.scenes,
        "reason": estimate.reason,
    }


def _link(key: str, artifact: Any, note: str) -> Link:
    return Link(key, artifacts.artifact_address(artifact), note)
