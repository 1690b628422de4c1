"""Bytes from a seed: the one source of noise of textures, trees, houses and sensors.

Only the raw stream of PCG64 is used, which numpy keeps stable; distributions are made from it by whoever asks.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt


def raw_bytes(seed: int, count: int) -> npt.NDArray[np.uint8]:
    """Return `count` uniform bytes for a seed."""
    return np.random.PCG64(seed).random_raw(-(-count // 8)).astype("<u8").view(np.uint8)[:count]
