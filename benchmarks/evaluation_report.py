"""What a report of 3,181 pairs x 7 planners costs: CPU seconds to write, bytes, and how fast a browser opens it.

The trajectories, all different, have 31 points; 24 pairs have pictures of 800 x 450. Chromium is optional.
"""

import shutil
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # so that the script runs from any folder, installed or not

from benchmarks.made_up.evaluation import PLANNERS, MadeUp, made_up
from benchmarks.performance import report
from qa_audit.evaluation_report import render_report

PAIRS = 3181
PICTURED = 24
SCENES = 850


def main() -> None:
    """Write a report and open it."""
    page = made_up(MadeUp(pairs=PAIRS, planners=PLANNERS, pictured=PICTURED, scenes=SCENES))
    start = time.process_time()
    text = render_report(page)
    spent = time.process_time() - start
    pictures = sum(len(one.source) + len(one.edited) for shown in page.pictures.values() for one in shown)
    lines = [f"{PAIRS} pairs x {len(PLANNERS)} planners, {PICTURED} pairs with pictures"]
    lines += [f"  writing        {spent:5.1f} CPU s", f"  file           {len(text.encode()) / 1e6:5.1f} MB"]
    lines += [f"  its pictures   {4 / 3 * pictures / 1e6:5.1f} MB"]
    report("evaluation_report", [*lines, *_opened(text)])


def _opened(text: str) -> list[str]:
    """Return the lines about opening the report, listing a planner's pairs, and a search; none without Chromium."""
    browser_path = shutil.which("chromium")
    if browser_path is None:
        return []
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        path = Path(folder) / "report.html"
        path.write_text(text, encoding="utf-8")
        browser = playwright.chromium.launch(executable_path=browser_path, args=["--no-sandbox", "--disable-gpu"])
        shown = browser.new_page(viewport={"width": 1400, "height": 900})
        start = time.perf_counter()
        shown.goto(path.as_uri(), wait_until="load")
        loaded = time.perf_counter()
        shown.evaluate("() => { location.hash = '#pairs?sort=hcc' }")
        shown.locator(".paircard").first.wait_for()
        listed = time.perf_counter()
        shown.fill('[name="q"]', "scene-0017")
        searched = time.perf_counter()
        browser.close()
    spans = {"opening": loaded - start, "listing pairs": listed - loaded, "searching": searched - listed}
    return [f"  {name:14s} {span:5.2f} s wall in Chromium" for name, span in spans.items()]


if __name__ == "__main__":
    main()
