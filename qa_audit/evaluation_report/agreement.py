"""Whether a page's tables, scores, pairs and predictions are about the same thing: a link must show what it counts."""

from __future__ import annotations

from collections import Counter
from typing import Any, Final

import polars as pl

from data_registry.evaluation import COVERAGE, DIFFERENCES, METRICS, SCORES, SENSITIVITY, STRICT, SUMMARY, VARIANTS
from data_registry.tables import TableError
from qa_audit.evaluation_report.page import EvaluationPage

SHOWN_PROBLEMS: Final = 10
_LEVELS: Final = ("family", "task", "split")
_JPEG: Final = b"\xff\xd8\xff"


class PageError(ValueError):
    """What a report was given does not fit together: a number in it would not be the one that its link counts."""


def require_agreement(page: EvaluationPage) -> None:
    """Raise PageError, with the first ten problems, when the page's parts do not fit together."""
    problems = _schemas(page) or [*_names(page), *_pictures(page)]
    problems = problems or [*_coverage(page), *_summary(page), *_sensitivity(page)]
    if problems:
        more = f"\n... and {len(problems) - SHOWN_PROBLEMS} more" if len(problems) > SHOWN_PROBLEMS else ""
        raise PageError("the report's parts do not agree:\n" + "\n".join(problems[:SHOWN_PROBLEMS]) + more)


def outcome_of() -> pl.Expr:
    """Return the outcome of an edited prediction in a frame of scores: scored, failed or ineligible."""
    return (
        pl.when(pl.col("edited") == "ok")
        .then(pl.lit("scored"))
        .when(pl.col("edited") == "ineligible")
        .then(pl.lit("ineligible"))
        .otherwise(pl.lit("failed"))
    )


def _schemas(page: EvaluationPage) -> list[str]:
    given = [(SUMMARY, page.summary), (COVERAGE, page.coverage), (DIFFERENCES, page.differences)]
    given += [(SENSITIVITY, page.sensitivity), *((SCORES, frame) for frame in page.scores.values())]
    problems: list[str] = []
    for schema, frame in given:
        try:
            schema.checked(frame)
        except TableError as error:
            problems.append(str(error))
    return problems


def _names(page: EvaluationPage) -> list[str]:
    """Return what is about an unknown or repeated planner, pair or prediction."""
    names, ids = [planner.name for planner in page.planners], [pair.pair_id for pair in page.pairs]
    problems = [f"planner {name!r} is listed twice" for name, count in Counter(names).items() if count > 1]
    problems += [f"pair {pair!r} is listed twice" for pair, count in Counter(ids).items() if count > 1]
    for what, found in (("scores", page.scores), ("predictions", page.predictions)):
        problems += [f"{what} of planner {name!r}, which is not listed" for name in sorted(set(found) - set(names))]
        problems += [f"no {what} of planner {name!r}" for name in names if name not in found]
    frames = {"summary": page.summary, "coverage": page.coverage, "sensitivity": page.sensitivity}
    for what, frame in frames.items():
        unknown = sorted(set(frame["planner"].to_list()) - set(names))
        problems += [f"{what} names planner {name!r}, which is not listed" for name in unknown]
    known = set(ids)
    for name, scores in page.scores.items():
        if set(scores["pair_id"].to_list()) != known:
            problems.append(f"scores of {name!r} are not about the {len(known)} listed pairs, each once")
    for name, predicted in page.predictions.items():
        keys = Counter((one.pair_id, one.variant) for one in predicted)
        twice = any(count > 1 for count in keys.values())
        if twice or any(pair not in known or variant not in VARIANTS for pair, variant in keys):
            problems.append(f"predictions of {name!r} repeat a case or name an unknown one")
    return problems


def _pictures(page: EvaluationPage) -> list[str]:
    known = {pair.pair_id for pair in page.pairs}
    problems = [f"pictures of pair {pair!r}, which is not listed" for pair in page.pictures if pair not in known]
    for pair, pictures in page.pictures.items():
        if not all(one.startswith(_JPEG) for picture in pictures for one in (picture.source, picture.edited)):
            problems.append(f"a picture of pair {pair!r} is no JPEG")
    return problems


def _grouped(page: EvaluationPage, counts: list[pl.Expr]) -> dict[tuple[str, str, str], dict[str, Any]]:
    """Return counts over the scores by planner, level and group."""
    found: dict[tuple[str, str, str], dict[str, Any]] = {}
    for name, frame in page.scores.items():
        marked = frame.with_columns(outcome=outcome_of())
        found[name, "overall", ""] = marked.select(counts).row(0, named=True)
        for level in _LEVELS:
            rows = marked.group_by(level).agg(counts).rows(named=True)
            found.update({(name, level, str(row[level])): row for row in rows})
    return found


def _coverage(page: EvaluationPage) -> list[str]:
    both = (pl.col("edited") == "ok") & (pl.col("source") == "ok")
    states = ("scored", "failed", "ineligible")
    counts = [pl.len().alias("pairs"), both.sum().alias("paired")]
    counts += [(pl.col("outcome") == state).sum().alias(state) for state in states]
    found = _grouped(page, counts)
    problems: list[str] = []
    for row in page.coverage.rows(named=True):
        ours = found.get((row["planner"], row["level"], row["group"]))
        if ours is None:
            problems.append(f"coverage of {row['planner']!r}, {row['level']} {row['group']!r}: no such pairs")
            continue
        where = f"coverage of {row['planner']!r}, {row['level']} {row['group']!r}"
        odd = [key for key in ("pairs", "paired", *states) if ours[key] != row[key]]
        problems += [f"{where}: {key} is {row[key]}, scores have {ours[key]}" for key in odd]
    return problems


def _summary(page: EvaluationPage) -> list[str]:
    counts = [pl.col(metric).count().alias(f"{metric}.plain") for metric in METRICS]
    counts += [(pl.col("outcome") != "ineligible").sum().alias(f"{metric}.strict") for metric in STRICT]
    found = _grouped(page, counts)
    problems: list[str] = []
    for planner, level, group, metric, mode, n in page.summary.select(
        "planner", "level", "group", "metric", "mode", "n"
    ).iter_rows():
        if level in ("overall", *_LEVELS):
            ours = found.get((planner, level, group), {}).get(f"{metric}.{mode}", 0)
            if ours != n:
                problems.append(
                    f"summary of {planner!r}, {level} {group!r}, {metric} {mode}: n {n}, scores have {ours}"
                )
    return problems


def _sensitivity(page: EvaluationPage) -> list[str]:
    """Return where the evaluation's own setting is not about the pairs that the scores count."""
    rows = page.sensitivity.filter("is_default").select("planner", "parameter", "metric", "n").iter_rows()
    counted = {
        name: dict(frame.select(pl.col(METRICS).count()).row(0, named=True)) for name, frame in page.scores.items()
    }
    return [
        f"sensitivity of {planner!r} to {parameter}, {metric}: n {n}, scores have {counted[planner].get(metric, 0)}"
        for planner, parameter, metric, n in rows
        if counted[planner].get(metric, 0) != n
    ]
