"""What a person sees of a build: its artifacts, opened in Prefect's user interface in a real Chromium."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import ConsoleMessage, Page, sync_playwright
from prefect.client.orchestration import get_client
from prefect.client.schemas.filters import ArtifactFilter, ArtifactFilterFlowRunId, FlowRunFilter, FlowRunFilterName

from flows.server import PrefectServer
from tests.flows.builds import Place

_OPTIONS = [
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
]
_VERSION = "0.0.0-pages"
_WAIT_MS = 15_000


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, street_root: Path, prefect_server: PrefectServer) -> dict[str, Any]:
    return Place(tmp_path_factory.mktemp("pages"), street_root, prefect_server).build("--version", _VERSION)


@pytest.fixture(scope="module")
def artifacts(made: dict[str, Any]) -> dict[str, str]:
    """Ids of the artifacts of this module's build, by key."""
    with get_client(sync_client=True) as client:
        name = FlowRunFilterName(any_=[f"build-sample-{_VERSION}"])
        (run,) = client.read_flow_runs(flow_run_filter=FlowRunFilter(name=name))
        of_run = ArtifactFilter(flow_run_id=ArtifactFilterFlowRunId(any_=[run.id]))
        return {str(found.key): str(found.id) for found in client.read_artifacts(artifact_filter=of_run)}


@pytest.fixture
def page(chromium: str) -> Iterator[Page]:
    """A fresh page, and no error that a script of it threw."""
    errors: list[str] = []

    def note(message: ConsoleMessage) -> None:
        if "artifact" in message.text.lower() and message.type == "error":
            errors.append(message.text)

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=_OPTIONS)
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        page.set_default_timeout(_WAIT_MS)
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("console", note)
        yield page
        browser.close()
    assert errors == []


@pytest.mark.parametrize("interface", ["/v2", ""])
def test_a_build_shows_itself_from_its_index_on(
    page: Page, made: dict[str, Any], artifacts: dict[str, str], prefect_server: PrefectServer, interface: str
) -> None:
    base = f"{prefect_server.url.removesuffix('/api')}{interface}/artifacts/artifact"
    page.goto(f"{base}/{artifacts['index']}", wait_until="load")
    page.get_by_role("link", name="funnel", exact=True).first.click()
    page.wait_for_url(re.compile(artifacts["funnel"]))
    decided = next(row for row in made["funnel"] if row["stage"] == "decide")
    cells = page.get_by_role("row").filter(has_text="decide").get_by_role("cell").all_inner_texts()
    assert cells[:3] == ["decide", str(decided["total"]), str(decided["kept"])]

    page.go_back()
    page.get_by_role("link", name="contact-sheet-1", exact=True).first.click()
    page.wait_for_url(re.compile(artifacts["contact-sheet-1"]))
    pictures = page.locator('img[src^="data:image/jpeg"]')
    pictures.first.wait_for()
    assert pictures.evaluate_all("all => all.map(one => one.naturalWidth)") == [640] * len(made["pairs"])
    assert page.get_by_role("heading", name="CAM_FRONT").count() == len(made["pairs"])
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")

    page.go_back()
    page.get_by_role("link", name="release", exact=True).first.click()
    page.get_by_text(made["digest"]).first.wait_for()
    assert "exceptiondrive verify --deep" in page.inner_text("body")
