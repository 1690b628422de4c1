"""What a person sees of a build: its artifacts, opened in Prefect's user interface in a real Chromium."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import ConsoleMessage, Page, expect, sync_playwright
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
        expect.set_options(timeout=_WAIT_MS)
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("console", note)
        yield page
        browser.close()
    assert errors == []


@pytest.mark.parametrize("interface", ["/v2", ""])
def test_a_build_shows_itself_from_its_index_on(
    page: Page, made: dict[str, Any], artifacts: dict[str, str], prefect_server: PrefectServer, interface: str
) -> None:
    index = f"{prefect_server.url.removesuffix('/api')}{interface}/artifacts/artifact/{artifacts['index']}"

    _follow(page, index, "funnel", artifacts)
    decided = next(row for row in made["funnel"] if row["stage"] == "decide")
    row = page.get_by_role("row").filter(has_text="decide")
    for column, text in enumerate(("decide", str(decided["total"]), str(decided["kept"]))):
        expect(row.get_by_role("cell").nth(column)).to_have_text(text)

    _follow(page, index, "contact-sheet-1", artifacts)
    expect(page.get_by_role("heading", name="CAM_FRONT")).to_have_count(len(made["pairs"]))
    pictures = page.locator('img[src^="data:image/jpeg"]')
    expect(pictures).to_have_count(len(made["pairs"]))
    for picture in pictures.all():
        expect(picture).to_have_js_property("naturalWidth", 640)  # 0: not decoded, or broken
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")

    _follow(page, index, "screening", artifacts)
    row = page.get_by_role("row").filter(has_text="·\u00a0occluded_pedestrian").first
    expect(row.get_by_role("cell").nth(1)).to_have_text("1")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")

    _follow(page, index, "release", artifacts)
    expect(page.locator("body")).to_contain_text(made["digest"])
    expect(page.locator("body")).to_contain_text("exceptiondrive verify --deep")


def _follow(page: Page, index: str, key: str, artifacts: dict[str, str]) -> None:
    """Go where the index links to; one of the interfaces would open a tab of its own."""
    page.goto(index, wait_until="load")
    link = page.get_by_role("link", name=key, exact=True)
    link.wait_for()
    address = link.evaluate("link => link.href")
    assert address == f"{index.rpartition('/')[0]}/{artifacts[key]}"
    page.goto(address, wait_until="load")
