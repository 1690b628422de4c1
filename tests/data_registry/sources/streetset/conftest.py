"""The official devkit on the embedded logs, opened once for the tests that ask it."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import pytest

from data_registry.sources.streetset import VERSION
from data_registry.sources.streetset.world import LOCATION


@pytest.fixture(scope="package")
def nusc(street_root: Path) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the devkit's own imports
        from nuscenes.nuscenes import NuScenes
    return NuScenes(VERSION, str(street_root), verbose=False)


@pytest.fixture(scope="package")
def nusc_map(street_root: Path) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from nuscenes.map_expansion.map_api import NuScenesMap
    return NuScenesMap(str(street_root), LOCATION)
