"""The task runs of an evaluation behind its predictions: read, score, count, report, write; each is cheap and pure."""

from __future__ import annotations

from prefect import task
from prefect.logging import get_run_logger
from prefect.runtime import flow_run

from flows.evaluation_assembly import Evaluating
from flows.exits import counted as number_of
from flows.progress import tell
from qa_audit.evaluation_report import render_report
from tasks import evaluation_content as content
from tasks.answers import Answers, answers_of_file, built_in_answers
from tasks.evaluation import EvaluationDraft, WrittenEvaluation, write_evaluation
from tasks.evaluation_content import Counted, Scored
from tasks.predicting import step_of
from tasks.provenance import provenance


def read_files(work: Evaluating) -> list[Answers]:
    """Read the predictions of planners that ran elsewhere; refuses what was not made from the release's pixels."""

    @task(name="read predictions", task_run_name="read predictions")
    def read() -> tuple[list[Answers]]:
        logger = get_run_logger()
        answers = [answers_of_file(file, work.steps.cases) for file in work.files]
        for one in answers:
            bound = "" if one.planner.bound else ", not bound to pixels"
            logger.info("%s: %s%s", one.planner.name, number_of(len(one.predicted), "prediction"), bound)
        return (answers,)

    return read()[0] if work.files else []


def score_all(work: Evaluating, files: list[Answers]) -> Scored:
    """Score every planner; raises UnsettledCasesError when a built-in one has not answered every case."""

    @task(name="score", task_run_name="score")
    def score() -> tuple[Scored]:
        work.steps.require_settled()
        cases, results = work.steps.cases, work.steps.results
        own = [built_in_answers(one, results[step_of(name)], cases) for name, one in work.steps.planners.items()]
        tell("score", 0, None)
        scored = content.score_answers([*own, *files], cases, work.settings.score)
        tell("score", len(scored.scores), len(scored.scores))
        return (scored,)

    return score()[0]


def count_all(scored: Scored) -> Counted:
    """Count means with intervals, coverage, differences and sensitivity."""

    @task(name="count", task_run_name="count")
    def count() -> tuple[Counted]:
        tell("count", 0, None)
        counted = content.count(scored)
        tell("count", 1, 1)
        return (counted,)

    return count()[0]


def render(work: Evaluating, scored: Scored, counted: Counted) -> str:
    """Return the report's HTML."""

    @task(name="report", task_run_name="report")
    def report() -> tuple[str]:
        tell("report", 0, None)
        pictures = content.pictures_of(scored, work.steps.cases, work.release, work.source)
        page = render_report(content.page_of(work.name, scored, counted, work.release, pictures))
        tell("report", 1, 1)
        return (page,)

    return report()[0]


def write(work: Evaluating, scored: Scored, counted: Counted, report: str) -> WrittenEvaluation:
    """Write the evaluation beside the release; raises what `tasks.evaluation.write_evaluation` raises."""

    @task(name="write", task_run_name="write")
    def write_all() -> tuple[WrittenEvaluation]:
        run = {"flow_run": flow_run.id, "name": flow_run.name}
        draft = EvaluationDraft(
            name=work.name,
            release=work.release,
            settings=work.settings.score.model_dump(mode="json"),
            pairs=len(scored.regions),
            planners=tuple(answers.planner for answers in scored.answers.values()),
            files=content.files_of(scored, counted, report),
            made_by=provenance(work.settings.model_dump(mode="json"), run),
        )
        return (write_evaluation(draft),)

    return write_all()[0]
