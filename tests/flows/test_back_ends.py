"""Settings choose back ends by name; what is wrong is said as the user wrote it, with what would be right."""

from typing import Annotated, Any, Literal, get_args

import pytest
from pydantic import Field

from flows.assembly import EDITORS, LOCALIZERS, REVIEWERS, SCREENERS
from flows.settings import Settings, SettingsError, load_settings, parse_settings
from models.backend import IdentitySettings
from models.localizers.ground_plane import GroundPlaneSettings

ROLES = {"screen": SCREENERS, "edit": EDITORS, "localize": LOCALIZERS, "judge": REVIEWERS}


class OtherSettings(IdentitySettings, frozen=True):
    """A second back end of a role."""

    backend: Literal["other"] = "other"
    revision: str = "1"
    radius_m: float = 2.0


class TwoLocalizers(Settings):
    """The product's settings with a second localizer, as docs/extending.md adds one."""

    localize: Annotated[  # pyright: ignore[reportIncompatibleVariableOverride]
        GroundPlaneSettings | OtherSettings, Field(discriminator="backend")
    ] = GroundPlaneSettings()


@pytest.fixture
def two_localizers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("flows.settings.Settings", TwoLocalizers)


@pytest.mark.parametrize("role", ROLES)
def test_every_back_end_that_settings_can_name_can_be_made(role: str) -> None:
    annotation: Any = Settings.model_fields[role].annotation
    choices = get_args(annotation) or (annotation,)
    assert set(choices) == set(ROLES[role])
    for kind, make in ROLES[role].items():
        assert make(kind()).identity_settings == kind()  # pyright: ignore[reportCallIssue]


def test_naming_the_default_back_end_changes_no_key() -> None:
    assert load_settings("sample", ["localize.backend=ground_plane"]) == load_settings("sample")


@pytest.mark.parametrize("role", [*ROLES, "measure", "decide"])
def test_an_unknown_back_end_is_refused_with_the_known_ones(role: str) -> None:
    known = getattr(Settings(), role).backend
    with pytest.raises(SettingsError, match=rf"\n  {role}\.backend: no back end 'dream'\. The role has: {known}\b"):
        load_settings("sample", [f"{role}.backend=dream"])


@pytest.mark.usefixtures("two_localizers")
def test_a_name_chooses_among_back_ends_and_none_means_the_default() -> None:
    assert load_settings("sample", ["localize.backend=other", "localize.radius_m=3"]).localize == OtherSettings(
        radius_m=3
    )
    assert load_settings("sample", ["localize.reach_m=50"]).localize == GroundPlaneSettings(reach_m=50)
    chosen = load_settings("sample", ["localize.backend=other"])
    assert parse_settings(chosen.model_dump(mode="json"), "of a drain") == chosen


@pytest.mark.usefixtures("two_localizers")
@pytest.mark.parametrize(
    ("overrides", "text"),
    [
        (["localize.backend=othre"], "localize.backend: no back end 'othre', did you mean other? The role has:"),
        (["localize.backend=3"], "localize.backend: no back end '3'. The role has: ground_plane, other"),
        (["localize.backend=other", "localize.radius=3"], "localize.radius: unknown setting, did you mean radius_m?"),
        (["localize.backend=other", "localize.reach_m=3"], "localize.reach_m: unknown setting."),
        (["localize.backend=other", "localize.radius_m=x"], "localize.radius_m: Input should be a valid number"),
        (["localize=3"], "localize: Input should be an object"),
    ],
)
def test_problems_name_settings_as_the_user_wrote_them(overrides: list[str], text: str) -> None:
    with pytest.raises(SettingsError) as raised:
        load_settings("sample", overrides)
    assert f"\n  {text}" in str(raised.value)


def test_a_misspelt_setting_is_met_with_the_nearest_one() -> None:
    with pytest.raises(SettingsError, match=r"source\.limits: unknown setting, did you mean limit\?"):
        load_settings("sample", ["source.limits=3"])
    with pytest.raises(SettingsError, match=r"\n  sorce: unknown setting, did you mean source\?"):
        load_settings("sample", ["sorce=3"])
