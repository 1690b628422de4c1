"""The drivable map mask: decoded once into bits inside the store, then read a window at a time.

The official masks have up to 1.2 gigapixels at 0.1 m. Pillow's guard against decompression bombs sits in `Image.open`;
these files are known to be huge, so the PNG class is used directly and a limit of our own is checked instead. Decoding
the largest takes about 5 s and 1.2 GB, once a store; the bits take 1/8 byte a pixel on disk and are mapped, not read.
"""

from __future__ import annotations

import errno
import os
import uuid
from pathlib import Path
from typing import Any, Final, cast

import numpy as np
import numpy.typing as npt
import shapely
from PIL.PngImagePlugin import PngImageFile

from data_registry import identity
from data_registry.blobs import StorageFullError, sync_folder
from data_registry.records import MapPatch
from data_registry.sources.nuscenes.locks import exclusive
from data_registry.sources.nuscenes.patches import Patch, clip, parts, rings
from data_registry.sources.nuscenes.problems import MapError

PIXEL_M: Final = 0.1
"""Resolution of a mask (nuScenes devkit, `MapMask`); row 0 has the largest y."""
CELL_PIXELS: Final = 5
CELL_M: Final = CELL_PIXELS * PIXEL_M
"""Outlines are drawn on cells of 0.5 m that are drivable by majority."""
STRAIGHTEN_M: Final = 0.25
"""Stairs of cells along slanting kerbs are straightened within this."""
LARGEST_PIXELS: Final = 1 << 32
_STRIP: Final = 1024

Bits = npt.NDArray[np.uint8]
Cells = npt.NDArray[np.bool_]


def mask_bits(mask: Path, digest: identity.Digest, home: Path) -> Bits:
    """Return a mask as mapped bits, shape (height, ceil(width / 8)), decoding it when nobody has.

    Args:
        mask: the PNG.
        digest: its sha256.
        home: folder inside the store for decoded masks.

    Raises:
        MapError: the file is not a PNG that can be decoded.
        StorageFullError: no room for the bits.
    """
    place = home / f"{digest}.npy"
    if not place.exists():
        home.mkdir(parents=True, exist_ok=True)
        with exclusive(home / "build.lock"):
            for leftover in home.glob(".*.part"):
                leftover.unlink(missing_ok=True)
            if not place.exists():
                _decode(mask, place)
    return cast(Bits, np.load(place, mmap_mode="r"))


def _decode(mask: Path, place: Path) -> None:
    temporary = place.with_name(f".{uuid.uuid4().hex}.part")
    try:
        with PngImageFile(mask) as picture:
            if picture.width * picture.height > LARGEST_PIXELS:
                raise ValueError(f"{picture.width}x{picture.height} pixels are too many")
            picture.load()
            _write_bits(picture, temporary)
        temporary.replace(place)
        sync_folder(place.parent)
    except StorageFullError:
        temporary.unlink(missing_ok=True)
        raise
    except (OSError, ValueError, SyntaxError, EOFError, MemoryError) as error:
        temporary.unlink(missing_ok=True)
        raise MapError(
            f"{mask} cannot be decoded as a PNG map mask ({error}): fetch the file again, or remove it: keyframes then"
            " have no map"
        ) from error


def _write_bits(picture: PngImageFile, path: Path) -> None:
    shape = (picture.height, -(-picture.width // 8))
    header: Any = {"descr": "|u1", "fortran_order": False, "shape": shape}
    try:
        with path.open("wb") as file:
            np.lib.format.write_array_header_1_0(file, header)
            for top in range(0, picture.height, _STRIP):
                strip = picture.crop((0, top, picture.width, min(top + _STRIP, picture.height))).convert("L")
                file.write(np.packbits(np.asarray(strip) >= 128, axis=1).tobytes())
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        if error.errno in {errno.ENOSPC, errno.EDQUOT}:
            raise StorageFullError(str(path), shape[0] * shape[1]) from error
        raise


def mask_patch(bits: Bits, patch: Patch) -> MapPatch:
    """Return the drivable areas around an ego pose, in its ego frame."""
    square = patch.square
    drivable = clip(_outlines(bits, square.bounds), square)
    content = {"source": "mask", "drivable": [rings(polygon) for polygon in drivable]}
    return MapPatch(source="mask", layers_sha256=identity.digest(content), drivable=patch.areas(drivable))


def _outlines(bits: Bits, bounds: tuple[float, float, float, float]) -> list[shapely.Polygon]:
    """Return outlines, map frame, of the drivable cells within bounds (x from, y from, x to, y to), metres."""
    left, low = (int(np.floor(bound / CELL_M)) for bound in bounds[:2])
    right, high = (int(np.ceil(bound / CELL_M)) for bound in bounds[2:])
    cells = _cells(bits, (left, low, right, high))
    boxes = [
        shapely.box((left + first) * CELL_M, (low + row) * CELL_M, (left + last) * CELL_M, (low + row + 1) * CELL_M)
        for row, line in enumerate(cells)
        for first, last in _runs(line)
    ]
    joined: Any = shapely.union_all(boxes)
    return parts(shapely.simplify(joined, STRAIGHTEN_M, preserve_topology=True))


def _runs(line: Cells) -> npt.NDArray[np.intp]:
    edges = np.diff(np.concatenate([[False], line, [False]]).astype(np.int8))
    return np.flatnonzero(edges).reshape(-1, 2)


def _cells(bits: Bits, bounds: tuple[int, int, int, int]) -> Cells:
    """Return majority cells, rows upwards; what lies outside the mask is not drivable."""
    left, low, right, high = bounds
    pixels = np.zeros(((high - low) * CELL_PIXELS, (right - left) * CELL_PIXELS), dtype=np.uint8)
    height, width = bits.shape[0], bits.shape[1] * 8
    top, west = height - high * CELL_PIXELS, left * CELL_PIXELS
    rows = slice(max(0, top), min(height, top + pixels.shape[0]))
    columns = slice(max(0, west), min(width, west + pixels.shape[1]))
    if rows.start < rows.stop and columns.start < columns.stop:
        first = columns.start // 8
        window = np.unpackbits(bits[rows, first : -(-columns.stop // 8)], axis=1)
        kept = window[:, columns.start - first * 8 : columns.stop - first * 8]
        pixels[rows.start - top : rows.stop - top, columns.start - west : columns.stop - west] = kept
    blocks = pixels[::-1].reshape(high - low, CELL_PIXELS, right - left, CELL_PIXELS).sum(axis=(1, 3))
    return blocks * 2 > CELL_PIXELS**2
