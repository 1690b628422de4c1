"""What back ends say about themselves."""

import math

import pytest
from pydantic import ValidationError

from models.backend import Execution, IdentitySettings, Pure


class Tuned(IdentitySettings, frozen=True):
    """Settings of a back end with a threshold."""

    threshold: float


def test_identity_settings_are_frozen_closed_and_finite() -> None:
    settings = Tuned(backend="rules", revision="1", threshold=0.5)
    with pytest.raises(ValidationError, match="frozen"):
        settings.threshold = 0.4  # pyright: ignore[reportAttributeAccessIssue]
    with pytest.raises(ValidationError, match="Extra inputs"):
        IdentitySettings.model_validate({"backend": "rules", "revision": "1", "device": "cuda"})
    with pytest.raises(ValidationError, match="finite"):
        Tuned(backend="rules", revision="1", threshold=math.nan)


@pytest.mark.parametrize("wrong", [{"max_batch": 0}, {"max_in_flight": 0}, {"scope": "all"}, {"resources": "tpu"}])
def test_an_execution_that_cannot_run_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        Execution.model_validate(wrong)


def test_a_pure_back_end_opens_and_closes_and_keeps_its_settings() -> None:
    settings = IdentitySettings(backend="rules", revision="1")
    with Pure(settings) as backend:
        assert backend.identity_settings is settings
        assert backend.execution == Execution(resources="cpu", scope="item", max_batch=1, max_in_flight=1)
