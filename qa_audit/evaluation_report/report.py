"""Writes the report: one HTML file whose policy lets it load nothing and send nothing."""

from __future__ import annotations

import base64
import hashlib
from pathlib import Path
from typing import Final

import jinja2

from qa_audit.evaluation_report.agreement import require_agreement
from qa_audit.evaluation_report.cells import PLOT_WIDTH, TINTS
from qa_audit.evaluation_report.page import EvaluationPage
from qa_audit.evaluation_report.payload import as_json, payload
from qa_audit.evaluation_report.tables import GROUP_METRICS, LEVELS, Tables, overall
from qa_audit.evaluation_report.wording import METRIC_WORDS, p_value

_TEMPLATES: Final = Path(__file__).parents[1] / "templates" / "evaluation_report"
_STYLES: Final = ("base.css", "tables.css", "pairs.css")
_SCRIPTS: Final = ("data.js", "shapes.js", "drawing.js", "listing.js", "panel.js", "pages.js")


def render_report(page: EvaluationPage) -> str:
    """Return the report as HTML in ASCII-safe UTF-8 that works from a file, without any other file or network.

    The same page gives the same text.

    Raises:
        PageError: tables, scores, pairs, predictions and pictures are not about the same evaluation.
    """
    require_agreement(page)
    style, script = _joined(_STYLES), _joined(_SCRIPTS)
    tables = Tables(page)
    return (
        _environment()
        .get_template("report.html.jinja")
        .render(
            page=page,
            tables=tables,
            counts=overall(tables.planners, page),
            levels=LEVELS,
            group_metrics=(*GROUP_METRICS, "coverage"),
            metric_words=METRIC_WORDS,
            p_value=p_value,
            tints=TINTS,
            plot_width=PLOT_WIDTH,
            policy=_policy(style, script),
            style=style,
            script=script,
            data=as_json(payload(page)),
        )
    )


def _joined(names: tuple[str, ...]) -> str:
    return "\n".join((_TEMPLATES / name).read_text(encoding="utf-8") for name in names)


def _environment() -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(_TEMPLATES),
        undefined=jinja2.StrictUndefined,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _policy(style: str, script: str) -> str:
    """Return the content security policy: our own style and script by digest, pictures from the page, nothing else."""
    allowed = [f"style-src '{_digest(style)}'", f"script-src '{_digest(script)}'", "img-src data:"]
    return "; ".join(["default-src 'none'", *allowed, "base-uri 'none'", "form-action 'none'"])


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")
