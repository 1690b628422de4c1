"""A camera that looks straight ahead from 1.5 m above the ego's origin."""

from __future__ import annotations

import numpy as np
import pytest

from data_registry.geometry import PinholeCamera, Transform
from data_registry.scene3d.light import Light

LOOKING_AHEAD = np.array([[0.0, -1.0, 0.0], [0.0, 0.0, -1.0], [1.0, 0.0, 0.0]])


@pytest.fixture
def camera() -> PinholeCamera:
    """160 x 90 pixels, focal length 125 px."""
    intrinsics = np.array([[125.0, 0.0, 80.0], [0.0, 125.0, 45.0], [0.0, 0.0, 1.0]])
    return PinholeCamera(intrinsics, Transform(LOOKING_AHEAD, np.array([0.0, 1.5, 0.0])), 160, 90)


@pytest.fixture
def light() -> Light:
    """Sun behind and above, white."""
    direction = np.array([-0.6, 0.0, 0.8])
    return Light(direction, np.array([0.7, 0.7, 0.7]), np.array([0.3, 0.3, 0.3]))
