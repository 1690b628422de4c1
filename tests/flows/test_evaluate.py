"""The evaluation flow on the session's release: in this process, on workers, killed, twice at once, fed with files."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any
from uuid import UUID

import polars as pl
import pytest
from prefect.client.orchestration import get_client
from prefect.client.schemas.filters import ArtifactFilter, ArtifactFilterFlowRunId

from data_registry.evaluation import SUMMARY
from data_registry.release import open_release
from data_registry.verify import verify
from flows import evaluation_assembly, serve
from flows.artifacts import MAX_BYTES
from flows.evaluation_text import WIDTH, evaluation_text
from flows.exits import exit_code
from flows.server import PrefectServer
from models.planners import Planner, suite
from models.planners.blind import Stop
from tasks import evaluation_content
from tasks.evaluation import OpenedEvaluation, predictions_path, read_evaluation
from tasks.predicting import UnsettledCasesError
from tasks.score import score
from tasks.score_files import read_predictions, read_regions
from tests.flows.arenas import Arena, arena_at, run_command, write_cases
from tests.flows.builds import CHECKOUT, KILL_AT
from tests.flows.conftest import prefect_command
from tests.flows.runs import installed_plugin
from tests.flows.whole_demo import Demo


@pytest.fixture
def arena(tmp_path: Path, demo: Demo, prefect_server: PrefectServer) -> Arena:
    return arena_at(tmp_path, demo, prefect_server)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory, demo: Demo, prefect_server: PrefectServer) -> Arena:
    """An arena whose predictions are made once for all tests that do not care."""
    return arena_at(tmp_path_factory.mktemp("shared"), demo, prefect_server)


@pytest.fixture(scope="module")
def whole(shared: Arena) -> dict[str, Any]:
    """All built-in planners, evaluated in a store of its own."""
    return shared.evaluate()


@pytest.fixture(scope="module")
def alone(shared: Arena, whole: dict[str, Any]) -> dict[str, Any]:
    """One planner alone, in the same store."""
    return shared.evaluate(planners=["stop"], name="alone")


@pytest.fixture
def few_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reports with one pair's pictures, for tests that look at something else."""
    monkeypatch.setattr(evaluation_content, "pictures_of", partial(evaluation_content.pictures_of, limit=1))


def _contents(evaluation: OpenedEvaluation) -> dict[str, bytes]:
    return {entry.path: evaluation.read(entry.path) for entry in evaluation.evaluation.files}


def test_the_demo_evaluates_all_planners_and_again_elsewhere_gives_the_same_bytes(
    demo: Demo, shared: Arena, whole: dict[str, Any]
) -> None:
    of_the_demo = demo.made["evaluation"]
    assert [line["planner"] for line in of_the_demo["leaderboard"] if line["knows_region"]] == ["brake_on_hazard"]
    assert {line["planner"] for line in of_the_demo["leaderboard"]} == set(suite)
    assert of_the_demo["digest"] == whole["digest"]
    there = read_evaluation(Path(of_the_demo["path"]), open_release(Path(demo.made["path"])))
    assert _contents(there) == _contents(shared.opened())
    covered = b"".join(_contents(there).values()) + there.evaluation.content()
    for secret in (str(demo.folder), str(shared.place.folder), "made_at"):
        assert secret.encode() not in covered


def test_every_number_follows_from_the_predictions_that_lie_beside_it(
    shared: Arena, whole: dict[str, Any], asked: Path, tmp_path: Path
) -> None:
    regions = read_regions(asked / "regions.jsonl")
    pairs = shared.content.frame("hazards", "pairs").filter(subset="benchmark")
    assert sorted(region.pair_id for region in regions) == pairs["pair_id"].to_list()
    evaluation = shared.opened()
    for planner in suite:
        path = tmp_path / "p.jsonl"
        path.write_bytes(evaluation.read(predictions_path(planner)))
        rows = read_predictions(path, pairs["pair_id"].to_list())
        assert score(regions, rows).equals(evaluation.scores(planner))
    summary = evaluation.table(SUMMARY).filter(level="overall", metric="hcc", mode="strict")
    means = dict(zip(summary["planner"], summary["mean"], strict=True))
    assert {line["planner"]: line["hcc"]["mean"] for line in whole["leaderboard"]} == means
    assert {row["pairs"] for row in whole["coverage"]} == {pairs.height} == {evaluation.evaluation.pairs}
    assert {row["scored"] + row["failed"] + row["ineligible"] for row in whole["coverage"]} == {pairs.height}


def test_the_oracle_is_safe_wherever_stopping_avoids_the_hazard(shared: Arena, whole: dict[str, Any]) -> None:
    stops = shared.content.frame("hazards", "pairs").filter(pl.col("avoidable").is_in(["stop", "both"]))
    scores = shared.opened().scores("brake_on_hazard").join(stops, on="pair_id", how="semi")
    assert scores.height > 50
    assert scores["ur"].to_list() == [0.0] * scores.height
    assert whole["leaderboard"][-1]["planner"] == "brake_on_hazard"


def test_an_evaluation_lies_beside_its_release_and_a_second_one_changes_nothing(
    shared: Arena, alone: dict[str, Any]
) -> None:
    before = shared.place.results()
    again = shared.evaluate(planners=["stop"], name="alone")
    assert (again["digest"], again["was_there"]) == (alone["digest"], True)
    assert shared.place.results() == before
    assert Path(again["report"]).read_text().startswith("<!")
    assert verify(shared.release).ok


def test_the_flow_run_shows_its_artifacts_within_their_size(shared: Arena, whole: dict[str, Any]) -> None:
    run = shared.opened().lock().made_by["run"]["flow_run"]
    with get_client(sync_client=True) as client:
        of_the_run = ArtifactFilter(flow_run_id=ArtifactFilterFlowRunId(any_=[UUID(run)]))
        found = {artifact.key: str(artifact.data) for artifact in client.read_artifacts(artifact_filter=of_the_run)}
    assert set(found) == {"leaderboard", "coverage", "report", "index"}
    assert all(len(text.encode()) <= MAX_BYTES for text in found.values())
    assert all(planner in found["leaderboard"] and planner in found["coverage"] for planner in suite)
    assert whole["report"] in found["report"]
    assert whole["digest"] in found["report"]


def test_the_text_fits_a_terminal_and_says_what_failed_and_what_is_not_bound(whole: dict[str, Any]) -> None:
    found = json.loads(json.dumps(whole))
    plain = evaluation_text(found)
    assert max(map(len, plain.split("\n\n")[0].splitlines())) <= WIDTH
    assert "failed predictions" not in plain
    assert "not bound" not in plain
    found["coverage"][0] |= {"failed": 3, "failures": {"missing": 2, "not_finite": 1}}
    found["leaderboard"][0] |= {"bound": False, "planner": "elsewhere", "why_unbound": "no ok row"}
    text = evaluation_text(found)
    assert f"failed predictions: {found['coverage'][0]['planner']} 3: missing 2, not_finite 1" in text
    assert "not bound to pixels: elsewhere (no ok row)" in text
    assert whole["report"] in text


@pytest.fixture(scope="module")
def asked(shared: Arena, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of cases.jsonl and regions.jsonl, as a planner author gets them."""
    return write_cases(shared, tmp_path_factory.mktemp("asked"))


def _answers(asked: Path, folder: Path, change: Callable[[dict[str, Any]], dict[str, Any]]) -> Path:
    """Write predictions of one who stands still in every case."""
    lines: list[str] = []
    for line in (asked / "cases.jsonl").read_text().splitlines():
        case = json.loads(line)
        answer = {name: case[name] for name in ("pair_id", "variant", "inputs_sha256", "component_digest")}
        lines.append(json.dumps(change({**answer, "status": "ok", "t": [0.0, 4.0], "xy": [[0.0, 0.0], [0.0, 0.0]]})))
    path = folder / "still.jsonl"
    path.write_text("\n".join(lines))
    return path


@pytest.mark.usefixtures("few_pictures")
def test_predictions_from_a_file_are_scored_beside_built_in_ones(shared: Arena, asked: Path, tmp_path: Path) -> None:
    path = _answers(asked, tmp_path, lambda answer: answer)
    found = shared.evaluate(planners=["stop"], predictions=[f"still={path}"], name="file")
    planners = {one.name: one for one in shared.opened("file").evaluation.planners}
    assert (planners["still"].bound, planners["still"].settings) == (True, None)
    assert planners["stop"].settings is not None
    assert {row["planner"]: row["scored"] for row in found["coverage"]} == dict.fromkeys(planners, found["pairs"])
    assert shared.opened("file").scores("still")["ur"].sum() == 0.0


@pytest.mark.usefixtures("few_pictures")
def test_predictions_without_digests_are_scored_and_said_not_to_be_bound(
    shared: Arena, asked: Path, tmp_path: Path
) -> None:
    def unbound(answer: dict[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in answer.items() if name not in {"inputs_sha256", "component_digest"}}

    path = _answers(asked, tmp_path, unbound)
    lines = path.read_text().splitlines()
    path.write_text("\n".join(lines[2:]))  # nothing about the first pair
    found = shared.evaluate(planners=["stop"], predictions=[f"still={path}"], name="unbound")
    assert {line["planner"]: line["bound"] for line in found["leaderboard"]} == {"still": False, "stop": True}
    opened = shared.opened("unbound")
    (still, _) = opened.evaluation.planners
    assert still.bound is False
    assert still.statuses["edited"] == {"missing": 1, "ok": found["pairs"] - 1}
    assert opened.scores("still")["edited"][0] == "missing"
    report = opened.read("report.html").decode()
    assert "not bound to pixels" in report
    assert "<title>unbound · Planners on exceptiondrive-sample" in report
    assert "not bound to pixels: still (rows without inputs_sha256)" in evaluation_text(found)


@pytest.mark.parametrize("name", ["inputs_sha256", "component_digest"])
def test_predictions_from_other_pixels_are_refused_with_their_lines(
    shared: Arena, asked: Path, tmp_path: Path, name: str
) -> None:
    path = _answers(asked, tmp_path, lambda answer: answer)
    lines = path.read_text().splitlines()
    lines[2] = json.dumps(json.loads(lines[2]) | {name: "0" * 64})
    path.write_text("\n".join(lines))
    with pytest.raises(ValueError, match=rf"line 3: {name} is 000000000000") as raised:
        shared.evaluate(planners=["stop"], predictions=[f"still={path}"], name="refused")
    assert "exceptiondrive cases RELEASE OUT" in str(raised.value)
    assert exit_code(raised.value) == 2
    assert not (shared.release.parent / f"{shared.release.name}.evaluations" / "refused").exists()


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["--planners", "dream"], "no planner 'dream'; there are brake_on_hazard"),
        (["--name", "../x"], "is not possible for an evaluation"),
        (["--predictions", "mine"], "--predictions takes NAME=FILE"),
        (["--predictions", "mine=gone.jsonl"], "there is no file of predictions gone.jsonl"),
        (["--predictions", "stop=README.md"], "two planners are called stop"),
        (
            ["--set", "score.body=bus"],
            "settings sample with --set source.root, source.version, run.poll_s, run.lease_s, score.body, store.path:"
            " score.body: there is no body 'bus'; there are zoe, zoe_lidar_0944, zoe_lidar_0986, zoe_wide `exceptiond",
        ),
        (["--set", "score.horizon_s=10"], "planners end at 3 s, so all of them would count as failed. Score 3 s or"),
        (["--planners", "none"], "choose built-in ones, or predictions of another with --predictions NAME=FILE"),
        (["--planners", "none", "--planners", "stop"], "no planner 'none'"),
        (["--store", "README.md"], "--store README.md: README.md is no folder"),
        (["--set", "source.kind=nuscenes"], "nuscenes logs: name them with --settings sample, which"),
        (["--set", "run.mode=workers"], "prefect deployment run evaluate-release -p mode=workers"),
    ],
)
def test_wrong_options_are_refused_before_a_server_is_asked_for(
    shared: Arena, words: list[str], text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(CHECKOUT)
    monkeypatch.setattr("flows.evaluating.on_a_server", None)
    monkeypatch.delenv("PREFECT_API_URL")
    done = run_command("evaluate", str(shared.release), *shared.words, *words)
    assert text in " ".join(done.output.split())
    assert done.exit_code == (3 if "mode=workers" in text else 2)


@pytest.mark.parametrize("out", ["file", "file/x"])
def test_a_file_where_cases_go_is_refused(
    shared: Arena, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, out: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("file").touch()
    done = run_command("cases", str(shared.release), out, *shared.words)
    assert (done.exit_code, f"OUT {out}: file is no folder" in done.output) == (2, True)


def test_what_is_no_release_is_refused(tmp_path: Path) -> None:
    for command in (["evaluate", str(tmp_path)], ["cases", str(tmp_path), str(tmp_path / "out")]):
        done = run_command(*command, "--store", str(tmp_path / "store"))
        assert done.exit_code == 2
        assert "there is no release at" in done.output


@pytest.mark.parametrize("name", ["cases.jsonl", "regions.jsonl"])
def test_cases_replace_nothing_but_plain_files(shared: Arena, tmp_path: Path, name: str) -> None:
    os.mkfifo(tmp_path / name)
    done = run_command("cases", str(shared.release), str(tmp_path), *shared.words)
    assert done.exit_code == 2
    assert f"{name} is a named pipe, not a plain file: name another, or move it away" in done.output
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_logs_without_the_release_s_keyframes_are_refused(
    shared: Arena, tmp_path: Path, demo: Demo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(evaluation_assembly, "benchmark_keyframes", lambda _release: {"a/b/c": "c" * 32})
    done = run_command("cases", str(shared.release), str(tmp_path), *shared.words)
    assert done.exit_code == 2
    assert "the logs are not those that release exceptiondrive-sample 0.0.0-dev was made from" in done.output


class _Moody(Stop):
    """A planner that fails at every edited case."""

    def predict(self, case: Any) -> Any:
        if case.variant == "edited":
            raise RuntimeError("out of memory")
        return super().predict(case)


@pytest.mark.usefixtures("few_pictures")
def test_cases_without_an_answer_leave_no_evaluation_and_running_again_finishes(
    arena: Arena, monkeypatch: pytest.MonkeyPatch
) -> None:
    def moody(_names: Any) -> dict[str, Planner]:
        return {"stop": _Moody()}

    with monkeypatch.context() as patched:
        patched.setattr(evaluation_assembly, "choose_planners", moody)
        with pytest.raises(UnsettledCasesError, match=r"(?s)no prediction.*out of memory.*run again") as raised:
            arena.evaluate()
    assert exit_code(raised.value) == 1
    assert not (arena.release.parent / f"{arena.release.name}.evaluations").exists()
    before = arena.place.results()
    assert len(before) == arena.evaluate(planners=["stop"])["pairs"]  # the source variants were kept
    assert before.items() <= arena.place.results().items()


def test_after_a_kill_while_predicting_two_at_once_go_on_and_agree(arena: Arena, alone: dict[str, Any]) -> None:
    words = ["evaluate", str(arena.release), *arena.words, "--planners", "stop", "--name", "alone"]
    evaluations = arena.release.parent / f"{arena.release.name}.evaluations"
    process = arena.place.start(*words, script=[str(KILL_AT), "after-row", "150"])
    _, errors = process.communicate(timeout=180)
    assert process.returncode == -signal.SIGKILL, errors
    assert not evaluations.exists()
    before = arena.place.results()
    assert len(before) == 150
    process = arena.place.start(*words, "--json")
    mine = arena.evaluate(planners=["stop"], name="alone")
    output, errors = process.communicate(timeout=180)
    assert process.returncode == 0, errors
    assert json.loads(output)["digest"] == mine["digest"] == alone["digest"] == arena.opened("alone").digest
    after = arena.place.results()
    assert (len(after), {key: after[key] for key in before}) == (2 * alone["pairs"], before)
    for table in ("leases", "conflicts", "attempts"):
        assert arena.place.rows(f"SELECT * FROM {table}") == []
    assert not list(evaluations.glob(".staging*"))


def test_the_deployment_has_planners_drained_on_workers(
    tmp_path: Path, demo: Demo, serving: serve.Serving, alone: dict[str, Any]
) -> None:
    server = PrefectServer(serving.url, serving.environment())
    arena = arena_at(tmp_path, demo, server)
    given = arena.parameters(planners=["stop"], name="alone", mode="workers")
    given["set"] += ["run.drains=1"]
    words = ["deployment", "run", "evaluate-release", "--watch", "--params", json.dumps(given)]
    environment = dict(server.environment) | installed_plugin(tmp_path)
    done = prefect_command(*words, environment=environment, cwd=CHECKOUT)
    assert done.returncode == 0, done.stdout + done.stderr
    assert arena.opened("alone").digest == alone["digest"]
    holders = {holder for (holder,) in arena.place.rows("SELECT DISTINCT holder FROM results")}
    flow = arena.opened("alone").lock().made_by["run"]["flow_run"]
    assert len(holders) == 1
    log = (arena.place.store / "logs" / f"{flow}.log").read_text()
    assert "predict-stop: " in log  # settled by the flow, worked off by a drain:
    assert len(list((arena.place.store / "logs").glob("*.log"))) == 2
