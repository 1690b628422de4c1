"""A made-up evaluation, its report, and a browser that opens it and lets nothing go unnoticed."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from benchmarks.made_up.evaluation import MadeUp, made_up
from qa_audit.evaluation_report import EvaluationPage, render_report

OPTIONS = [
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
]


@pytest.fixture(scope="session")
def evaluation() -> EvaluationPage:
    return made_up(MadeUp())


@pytest.fixture(scope="session")
def report(evaluation: EvaluationPage, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "report.html"
    path.write_text(render_report(evaluation), encoding="utf-8")
    return path


@pytest.fixture(scope="package")
def browser(chromium: str) -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=OPTIONS)
        expect.set_options(timeout=10_000)
        yield browser
        browser.close()


@pytest.fixture
def visit(browser: Browser) -> Iterator[Callable[..., Page]]:
    """A function that opens a file: any console message, script error or request for anything else fails the test."""
    noticed: list[str] = []
    opened: list[Page] = []

    def visit(path: Path, address: str = "", width: int = 1400, height: int = 900, **options: Any) -> Page:
        page = browser.new_page(viewport={"width": width, "height": height}, **options)
        opened.append(page)
        page.set_default_timeout(10_000)
        file = path.as_uri()
        page.on("console", lambda message: noticed.append(f"console: {message.text}"))
        page.on("pageerror", lambda error: noticed.append(f"error: {error}"))
        page.on("dialog", lambda dialog: noticed.append(f"dialog: {dialog.message}"))
        page.on("request", lambda request: _note_request(noticed, file, request.url))
        page.goto(file + address, wait_until="load")
        return page

    yield visit
    for page in opened:
        page.close()
    assert noticed == []


def _note_request(noticed: list[str], file: str, url: str) -> None:
    if url.split("#")[0] != file and not url.startswith("data:"):
        noticed.append(f"request: {url}")
