"""The steps of an evaluation: `predict-<planner>` for each built-in planner, over the cases of a release's benchmark.

`flows` settles them one after another, in this process or by drains elsewhere; both ask here for the items, so that a
drain that knows only release, settings and step works on exactly what the evaluation waits for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from models.planners import suite
from models.planners.planner import Case, Planner
from tasks.evaluation import EvaluationError
from tasks.predict import PredictStage
from tasks.stage import Stage, StageResults

_STEP: Final = "predict-"
_SHOWN: Final = 10
_LONGEST: Final = 300
"""Characters of a case's last error that an error shows."""


class UnknownPlannerError(EvaluationError):
    """A planner was asked for that is not among the built-in ones."""


class UnsettledCasesError(EvaluationError):
    """Cases have no prediction: their planner failed at every try, or their drains ended."""


def step_of(planner: str) -> str:
    """Return the step in which a planner predicts.

    >>> step_of("stop")
    'predict-stop'
    """
    return _STEP + planner


def planner_of(step: str) -> str:
    """Return the planner of a step."""
    return step.removeprefix(_STEP)


def choose_planners(
    names: Sequence[str] | None, known: Mapping[str, Callable[[], Planner]] = suite
) -> dict[str, Planner]:
    """Return the planners asked for by name, each once, in alphabetical order; None: all.

    Raises:
        UnknownPlannerError: names every one that there is not.
    """
    wanted = sorted(set(known if names is None else names))
    unknown = [name for name in wanted if name not in known]
    if unknown:
        raise UnknownPlannerError(
            f"no planner {', '.join(map(repr, unknown[:_SHOWN]))}; there are {', '.join(sorted(known))}. Predictions of"
            " others come in as files: --predictions NAME=FILE"
        )
    return {name: known[name]() for name in wanted}


@dataclass
class Predicting:
    """One evaluation's steps, their cases, and the results so far, by step."""

    cases: Sequence[Case]
    """Both variants of every pair of the benchmark."""
    planners: Mapping[str, Planner]
    """By name."""
    results: dict[str, StageResults[Any, Any]] = field(default_factory=dict[str, StageResults[Any, Any]])

    @property
    def steps(self) -> tuple[str, ...]:
        """All steps, in the order of the planners' names."""
        return tuple(step_of(name) for name in sorted(self.planners))

    def stage(self, step: str) -> Stage[Any, Any]:
        """Return the stage that works on a step's cases; raises KeyError when no planner has that step."""
        return PredictStage(self.planners[planner_of(step)])

    def items(self, step: str) -> Sequence[Case]:
        """Return a step's cases: the same for every planner."""
        if planner_of(step) not in self.planners:
            raise KeyError(f"no step {step!r}; the evaluation has {', '.join(self.steps) or 'none'}")
        return self.cases

    def require_settled(self) -> None:
        """Raise UnsettledCasesError when a case has no outcome: it would look like a planner's failure."""
        left = [(step, entry) for step in self.steps for entry in self.results[step].unsettled]
        if left:
            shown = "\n".join(f"  {step}: {entry.id}: {_short(entry.error)}" for step, entry in left[:_SHOWN])
            more = f"\n  and {len(left) - _SHOWN} more" if len(left) > _SHOWN else ""
            raise UnsettledCasesError(
                f"{len(left)} cases have no prediction, so nothing was scored:\n{shown}{more}\n"
                "Mend what the errors say, if there are any, then run again: finished predictions are kept"
            )


def _short(error: str | None) -> str:
    return " ".join((error or "not tried").split())[:_LONGEST]
