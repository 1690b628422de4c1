"""The drivable map mask: decoded once into tiles of bits inside the store, then read a window at a time.

The official masks have up to 1.2 gigapixels at 0.1 m. Pillow's guard against decompression bombs sits in `Image.open`;
these files are known to be huge, so the PNG class is used directly and a limit of our own is checked instead. Pillow
decodes a picture as a whole: the largest takes 3 s and 1.4 GB, once a store. The tiles take 1/8 byte a pixel on
disk and are mapped: a window touches the few tiles that it meets and no others.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, BinaryIO, Final, cast

import numpy as np
import numpy.typing as npt
import shapely
from PIL.PngImagePlugin import PngImageFile

from data_registry import identity
from data_registry.blobs import StorageFullError
from data_registry.records import MapPatch
from data_registry.sources.nuscenes.columns import written
from data_registry.sources.nuscenes.patches import Patch, clip, parts, rings
from data_registry.sources.nuscenes.problems import MapError
from data_registry.sources.nuscenes.shelf import kept

PIXEL_M: Final = 0.1
"""Resolution of a mask (nuScenes devkit, `MapMask`); row 0 has the largest y."""
CELL_PIXELS: Final = 5
CELL_M: Final = CELL_PIXELS * PIXEL_M
"""Outlines are drawn on cells of 0.5 m that are drivable by majority."""
STRAIGHTEN_M: Final = 0.25
"""Stairs of cells along slanting kerbs are straightened within this."""
LARGEST_PIXELS: Final = 1 << 32
MASK_SCHEMA: Final = 1
"""Raised whenever the form of tiles changes: older ones are then made anew."""

TILE_PIXELS: Final = 1024
"""Tiles are squares of this many pixels, 128 KiB each."""
TILES: Final = "tiles.npy"

Tiles = npt.NDArray[np.uint8]
"""Bits (tile rows, tile columns, TILE_PIXELS, TILE_PIXELS / 8): rows go upwards from the map's origin, as y does, and
what lies beyond the picture is 0."""
Cells = npt.NDArray[np.bool_]


def mask_tiles(mask: Path, digest: identity.Digest, home: Path) -> Tiles:
    """Return a mask as mapped tiles, decoding it when nobody has.

    Args:
        mask: the PNG.
        digest: its sha256.
        home: folder inside the store for decoded masks.

    Raises:
        MapError: the file is not a PNG that can be decoded.
        StorageFullError: no room for the tiles.
    """
    return kept(home / f"tiles-{MASK_SCHEMA}-{digest}", _opened, lambda folder: _decode(mask, folder))


def _opened(folder: Path) -> Tiles:
    return cast(Tiles, np.load(folder / TILES, mmap_mode="r"))


def _decode(mask: Path, folder: Path) -> None:
    try:
        with PngImageFile(mask) as picture:
            if picture.width * picture.height > LARGEST_PIXELS:
                raise ValueError(f"{picture.width}x{picture.height} pixels are too many")
            picture.load()
            with written(folder / TILES) as file:
                _write_tiles(picture, file)
    except StorageFullError:
        raise
    except (OSError, ValueError, SyntaxError, EOFError, MemoryError) as error:
        raise MapError(
            f"{mask} cannot be decoded as a PNG map mask ({error}): fetch the file again, or remove it: keyframes then"
            " have no map"
        ) from error


def _write_tiles(picture: PngImageFile, file: BinaryIO) -> None:
    rows, columns = (-(-side // TILE_PIXELS) for side in (picture.height, picture.width))
    header: Any = {"descr": "|u1", "fortran_order": False, "shape": (rows, columns, TILE_PIXELS, TILE_PIXELS // 8)}
    np.lib.format.write_array_header_1_0(file, header)
    for row in range(rows):
        low = picture.height - row * TILE_PIXELS
        strip = np.asarray(picture.crop((0, max(0, low - TILE_PIXELS), picture.width, low)).convert("L"))
        bits = np.zeros((TILE_PIXELS, columns * TILE_PIXELS), np.bool_)
        bits[: len(strip), : picture.width] = strip[::-1] >= 128
        packed = np.packbits(bits, axis=1).reshape(TILE_PIXELS, columns, TILE_PIXELS // 8)
        file.write(np.ascontiguousarray(packed.transpose(1, 0, 2)).data)


def mask_patch(tiles: Tiles, patch: Patch) -> MapPatch:
    """Return the drivable areas around an ego pose, in its ego frame."""
    square = patch.square
    drivable = clip(_outlines(tiles, square.bounds), square)
    content = {"source": "mask", "drivable": [rings(polygon) for polygon in drivable]}
    return MapPatch(source="mask", layers_sha256=identity.digest(content), drivable=patch.areas(drivable))


def _outlines(tiles: Tiles, bounds: tuple[float, float, float, float]) -> list[shapely.Polygon]:
    """Return outlines, map frame, of the drivable cells within bounds (x from, y from, x to, y to), metres."""
    left, low = (int(np.floor(bound / CELL_M)) for bound in bounds[:2])
    right, high = (int(np.ceil(bound / CELL_M)) for bound in bounds[2:])
    cells = drivable_cells(tiles, (left, low, right, high))
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


def drivable_cells(tiles: Tiles, bounds: tuple[int, int, int, int]) -> Cells:
    """Return cells of CELL_M, rows upwards, that are drivable by majority; outside the mask nothing is.

    Args:
        tiles: the mask.
        bounds: x from, y from, x to, y to, in cells from the map's origin.
    """
    left, low, right, high = bounds
    pixels = np.zeros(((high - low) * CELL_PIXELS, (right - left) * CELL_PIXELS), dtype=np.uint8)
    bottom, west = low * CELL_PIXELS, left * CELL_PIXELS
    rows = slice(max(0, bottom), min(tiles.shape[0] * TILE_PIXELS, bottom + pixels.shape[0]))
    columns = slice(max(0, west), min(tiles.shape[1] * TILE_PIXELS, west + pixels.shape[1]))
    if rows.start < rows.stop and columns.start < columns.stop:
        kept = _window(tiles, rows, columns)
        pixels[rows.start - bottom : rows.stop - bottom, columns.start - west : columns.stop - west] = kept
    blocks = pixels.reshape(high - low, CELL_PIXELS, right - left, CELL_PIXELS).sum(axis=(1, 3))
    return blocks * 2 > CELL_PIXELS**2


def _window(tiles: Tiles, rows: slice, columns: slice) -> npt.NDArray[np.uint8]:
    """Return the pixels, 0 or 1, of rows and columns that lie within the tiles."""
    down, across = (range(side.start // TILE_PIXELS, -(-side.stop // TILE_PIXELS)) for side in (rows, columns))
    met = tiles[down.start : down.stop, across.start : across.stop].transpose(0, 2, 1, 3)
    joined = met.reshape(len(down) * TILE_PIXELS, len(across) * TILE_PIXELS // 8)
    top, first = down.start * TILE_PIXELS, columns.start // 8
    inside = joined[rows.start - top : rows.stop - top, first - across.start * TILE_PIXELS // 8 :]
    bits = np.unpackbits(inside[:, : -(-columns.stop // 8) - first], axis=1)
    return bits[:, columns.start - first * 8 : columns.stop - first * 8]
