"""Pictures as bytes and as arrays: strict decoding, deterministic encoding, digests of pixels."""

from __future__ import annotations

import hashlib
import io
import struct
import zlib
from typing import Final, Literal

import numpy as np
import numpy.typing as npt
from PIL import Image, UnidentifiedImageError

from data_registry.recent import Recent

Rgb = npt.NDArray[np.uint8]
"""Shape (height, width, 3), sRGB."""
Mask = npt.NDArray[np.uint8]
"""Shape (height, width), 0 or 255."""

_PNG: Final = b"\x89PNG\r\n\x1a\n"
LARGEST_PIXELS: Final = 64_000_000
"""Pictures beyond this are refused before they are decoded."""


_MALFORMED: Final = (
    OSError,
    SyntaxError,
    ValueError,
    TypeError,
    LookupError,
    ArithmeticError,
    EOFError,
    struct.error,
    zlib.error,
    Image.DecompressionBombError,
    Image.DecompressionBombWarning,
)
"""What Pillow's parsers raise on broken files."""


class PictureError(ValueError):
    """A picture cannot be decoded: truncated, corrupt, too large or not a picture."""


def decode_rgb(content: bytes, name: str) -> Rgb:
    """Decode a JPEG or PNG to RGB, shape (height, width, 3).

    Args:
        content: the file's bytes.
        name: what to call the picture in an error.

    Raises:
        PictureError: the picture is truncated, corrupt, too large or of another kind.
    """
    return _decode(content, name, "RGB")


def decode_small(content: bytes, name: str, shrink: Literal[2, 4, 8]) -> Rgb:
    """Decode a JPEG or PNG to RGB at a fraction of its size, (ceil(height / shrink), ceil(width / shrink), 3).

    JPEGs are decoded at that size, several times faster than whole; of others every so many pixels are taken.

    Raises:
        PictureError: as `decode_rgb`.
    """
    return _decode(content, name, "RGB", shrink=shrink)


def decode_crop(content: bytes, name: str) -> Rgb:
    """Decode an edit's stored pixels, shape (height, width, 3): an RGB PNG of 8 bits without transparency.

    Pictures of cameras are whatever a camera writes; what an edit stores has one form, so that its pixels mean one
    thing: nothing is converted.

    Raises:
        PictureError: the content is anything else.
    """
    _require_png(content, name, 2, "an 8-bit RGB PNG without transparency")
    return _decode(content, name, "RGB", stored=True)


def decode_mask(content: bytes, name: str) -> Mask:
    """Decode an 8-bit grey PNG as a mask, shape (height, width), values 0 and 255 alone.

    Raises:
        PictureError: the content is anything else.
    """
    _require_png(content, name, 0, "an 8-bit mask, a grey PNG")
    mask = _decode(content, name, "L", stored=True)
    if not is_mask(mask):
        raise PictureError(f"{name} is not a mask: it holds values other than 0 and 255")
    return mask


def _require_png(content: bytes, name: str, colour_type: int, wanted: str) -> None:
    """Refuse what is no PNG of 8 bits and a colour type: Pillow would convert it, and tells no 16-bit RGB from 8-bit.

    Bits and colour type lie at fixed places of the first chunk, `IHDR` (PNG specification, 11.2.2).
    """
    if content[:8] != _PNG or content[12:16] != b"IHDR" or tuple(content[24:26]) != (8, colour_type):
        raise PictureError(f"{name} is not {wanted}: no edit stores another form")


def is_mask(pixels: npt.NDArray[np.uint8]) -> bool:
    """Tell whether all values are 0 or 255; `np.isin` takes several times as long to say so."""
    return bool(((pixels == 0) | (pixels == 255)).all())


class Decoder:
    """Decodes pictures that are asked for again and again, and keeps the last few: a keyframe has many tasks.

    Pictures are known by their content, so that reading a file and checking its digest stay with who asks. They are
    shared, and cannot be written to. Safe to use from several threads.
    """

    def __init__(self, kept: int = 12) -> None:
        """Keep at most `kept` pictures: of 1600 x 900 pixels each takes 4.3 MB."""
        self._recent = Recent[Rgb](kept)

    def rgb(self, content: bytes, name: str) -> Rgb:
        """Return what `decode_rgb` returns, as an array that cannot be written to; raises as that does."""
        return self._recent.get(hashlib.sha256(content).digest(), lambda: _frozen_rgb(content, name))


def _frozen_rgb(content: bytes, name: str) -> Rgb:
    pixels = decode_rgb(content, name)
    pixels.flags.writeable = False
    return pixels


def _decode(content: bytes, name: str, mode: str, stored: bool = False, shrink: int = 1) -> npt.NDArray[np.uint8]:
    """Decode to a mode; what an edit `stored` is not on any disk of the user's, so no advice about files is given."""
    try:
        with Image.open(io.BytesIO(content), formats=("JPEG", "PNG")) as picture:
            if picture.width * picture.height > LARGEST_PIXELS:
                raise PictureError(f"{name} has {picture.width}x{picture.height} pixels, more than {LARGEST_PIXELS}")
            if stored and (picture.mode != mode or "transparency" in picture.info):
                raise PictureError(f"{name} is not {mode} without transparency")
            whole = picture.size
            if shrink > 1:
                picture.draft("RGB", (whole[0] // shrink, whole[1] // shrink))
            picture.load()
            pixels = np.array(picture.convert(mode), dtype=np.uint8)
            return pixels[::shrink, ::shrink] if picture.size == whole else pixels
    except PictureError:
        raise
    except _MALFORMED as error:
        # Pillow's own words name a buffer by its address in memory, another one in each run
        reason = "it is no JPEG or PNG" if isinstance(error, UnidentifiedImageError) else str(error)
        advice = "" if stored else ": fetch the file again"
        raise PictureError(f"{name} cannot be decoded ({reason}){advice}") from error


def encode_png(pixels: npt.NDArray[np.uint8]) -> bytes:
    """Encode RGB (height, width, 3) or mask (height, width) pixels as PNG; the same pixels give the same bytes."""
    buffer = io.BytesIO()
    Image.fromarray(np.ascontiguousarray(pixels)).save(buffer, "PNG", compress_level=6)
    return buffer.getvalue()


def pixels_digest(pixels: npt.NDArray[np.uint8]) -> str:
    """Return the sha256 of shape and pixel values, independent of any file format."""
    header = "x".join(str(size) for size in pixels.shape).encode()
    return hashlib.sha256(header + b"\n" + np.ascontiguousarray(pixels).tobytes()).hexdigest()
