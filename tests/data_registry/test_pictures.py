"""Pictures: the same pixels give the same bytes, and no file raises anything but PictureError."""

import io
import random
import struct
import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from PIL import Image

from data_registry import pictures
from data_registry.pictures import (
    PictureError,
    decode_crop,
    decode_mask,
    decode_rgb,
    decode_small,
    encode_png,
    pixels_digest,
)

shapes = st.tuples(st.integers(1, 12), st.integers(1, 12))


def _file(image: Image.Image, kind: str, **options: object) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, kind, **options)
    return buffer.getvalue()


@given(shapes.flatmap(lambda shape: arrays.arrays(np.uint8, (*shape, 3))))
def test_rgb_survives_png_with_the_same_bytes_each_time(pixels) -> None:
    content = encode_png(pixels)
    assert encode_png(np.asfortranarray(pixels)) == content
    assert (decode_rgb(content, "x") == pixels).all()


@given(shapes.flatmap(lambda shape: arrays.arrays(np.bool_, shape)))
def test_a_mask_survives_png(mask) -> None:
    pixels = np.where(mask, 255, 0).astype(np.uint8)
    assert (decode_mask(encode_png(pixels), "x") == pixels).all()


def test_a_mask_has_one_channel_and_two_values() -> None:
    grey = np.array([[0, 7, 255]], dtype=np.uint8)
    with pytest.raises(PictureError, match=r"m.png is not a mask: it holds values other than 0 and 255"):
        decode_mask(encode_png(grey), "m.png")
    with pytest.raises(PictureError, match=r"m.png is not an 8-bit mask, a grey PNG"):
        decode_mask(encode_png(np.zeros((2, 2, 3), np.uint8)), "m.png")


def test_grey_and_jpeg_pictures_become_rgb() -> None:
    grey = Image.new("L", (5, 4), 9)
    assert decode_rgb(_file(grey, "PNG"), "x").shape == (4, 5, 3)
    assert decode_rgb(_file(grey, "JPEG"), "x").shape == (4, 5, 3)


@pytest.mark.parametrize("kind", ["GIF", "BMP", "TIFF", "WEBP"])
def test_another_kind_of_file_is_refused(kind: str) -> None:
    with pytest.raises(PictureError, match=r"x.gif cannot be decoded"):
        decode_rgb(_file(Image.new("RGB", (5, 4)), kind), "x.gif")


@pytest.mark.parametrize("kind", ["PNG", "JPEG"])
def test_a_truncated_file_is_refused(kind: str) -> None:
    noise = np.random.default_rng(0).integers(0, 255, (64, 64, 3), dtype=np.uint8)
    content = _file(Image.fromarray(noise), kind)
    for size in (0, 10, len(content) // 2, len(content) - 200):
        with pytest.raises(PictureError, match=r"x cannot be decoded .*: fetch the file again"):
            decode_rgb(content[:size], "x")


def _claims(width: int, height: int) -> bytes:
    """Return a small PNG whose header claims another size, with a valid checksum."""
    import zlib

    content = _file(Image.new("L", (1, 1)), "PNG")
    header = b"IHDR" + width.to_bytes(4, "big") + height.to_bytes(4, "big") + content[24:29]
    return content[:12] + header + zlib.crc32(header).to_bytes(4, "big") + content[33:]


@pytest.mark.parametrize("size", [(8001, 8000), (10_000, 10_000), (30_000, 30_000), (2**31 - 1, 2**31 - 1)])
def test_a_picture_that_is_too_large_is_refused_before_it_is_decoded(size: tuple[int, int]) -> None:
    with pytest.raises(PictureError, match=r"^x has \d+x\d+ pixels, more than|^x cannot be decoded"):
        decode_rgb(_claims(*size), "x")


@given(st.binary(max_size=200))
def test_any_bytes_raise_nothing_but_a_picture_error(content: bytes) -> None:
    for start in (b"", b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff"):
        with pytest.raises(PictureError):
            decode_rgb(start + content, "x")


@given(st.integers(0, 10**9), st.sampled_from(["PNG", "JPEG"]))
def test_damaged_files_raise_nothing_but_a_picture_error(seed: int, kind: str) -> None:
    noise = np.random.default_rng(0).integers(0, 255, (16, 16, 3), dtype=np.uint8)
    image = Image.fromarray(noise)
    image.info["dpi"] = (72, 72)
    damaged = bytearray(_file(image, kind, dpi=(72, 72)))
    generator = random.Random(seed)
    for _ in range(generator.randint(1, 6)):
        damaged[generator.randrange(len(damaged))] = generator.randrange(256)
    try:
        decode_rgb(bytes(damaged), "x")
    except PictureError:
        return


def test_a_pixel_digest_depends_on_shape_and_values_alone() -> None:
    pixels = np.arange(24, dtype=np.uint8).reshape(2, 4, 3)
    assert pixels_digest(pixels) == pixels_digest(np.asfortranarray(pixels))
    assert pixels_digest(pixels) == "".join(pixels_digest(decode_rgb(encode_png(pixels), "x")))
    others = (pixels.reshape(4, 2, 3), pixels + np.uint8(1))
    assert len({pixels_digest(pixels), *map(pixels_digest, others)}) == 3
    assert pictures.LARGEST_PIXELS == 64_000_000


@pytest.mark.parametrize("kind", ["JPEG", "PNG"])
def test_a_small_picture_shows_the_same_at_a_fraction_of_the_size(kind: str) -> None:
    ramp = np.linspace(20, 230, 320).astype(np.uint8)
    pixels = np.repeat(np.tile(ramp, (180, 1))[..., None], 3, axis=2)
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, kind, quality=95)

    small = decode_small(buffer.getvalue(), "ramp", 4)

    assert small.shape == (45, 80, 3)
    np.testing.assert_allclose(small.astype(int), pixels[::4, ::4].astype(int), atol=6)


def test_a_decoder_gives_the_pixels_of_the_content_that_cannot_be_written_to() -> None:
    decoder = pictures.Decoder(kept=1)
    contents = [encode_png(np.full((2, 3, 3), level, dtype=np.uint8)) for level in (1, 2, 1)]
    found = [decoder.rgb(content, "x") for content in contents]
    for content, pixels in zip(contents, found, strict=True):
        assert (pixels == decode_rgb(content, "x")).all()
        assert not pixels.flags.writeable
    assert decoder.rgb(contents[2], "y") is found[2]
    with pytest.raises(PictureError, match=r"y\.jpg cannot be decoded"):
        decoder.rgb(contents[0][:20], "y.jpg")


CROP = np.arange(48, dtype=np.uint8).reshape(4, 4, 3)


def _sixteen_bits(colour_type: int) -> bytes:
    """An RGB or grey PNG of 16 bits: Pillow opens the one as if it had 8."""
    channels = {0: 1, 2: 3}[colour_type]
    rows = b"".join(b"\x00" + bytes(2 * 4 * channels) for _ in range(4))
    parts = ((b"IHDR", struct.pack(">IIBBBBB", 4, 4, 16, colour_type, 0, 0, 0)), (b"IDAT", zlib.compress(rows)))
    chunks = [
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in parts
    ]
    return (
        b"\x89PNG\r\n\x1a\n"
        + b"".join(chunks)
        + struct.pack(">I", 0)
        + b"IEND"
        + struct.pack(">I", zlib.crc32(b"IEND"))
    )


def test_an_edit_s_pixels_are_an_rgb_png() -> None:
    np.testing.assert_array_equal(decode_crop(encode_png(CROP), "crop"), CROP)


@pytest.mark.parametrize(
    "content",
    [
        _file(Image.fromarray(CROP), "JPEG"),
        _file(Image.fromarray(CROP).convert("RGBA"), "PNG"),
        _file(Image.fromarray(CROP).convert("P"), "PNG"),
        _file(Image.fromarray(CROP).convert("L"), "PNG"),
        _file(Image.fromarray(CROP), "PNG", transparency=(0, 1, 2)),
        _sixteen_bits(0),
        _sixteen_bits(2),
        b"hello",
    ],
    ids=["JPEG", "alpha", "palette", "grey", "a transparent colour", "16-bit grey", "16-bit RGB", "no picture"],
)
def test_an_edit_s_pixels_in_any_other_form_are_refused(content: bytes) -> None:
    with pytest.raises(PictureError, match=r"^crop is not .*RGB.* without transparency"):
        decode_crop(content, "crop")


@pytest.mark.parametrize("content", [b"hello", encode_png(CROP)[:50]])
def test_no_message_holds_an_address_and_a_stored_blob_is_not_to_be_fetched(content: bytes) -> None:
    with pytest.raises(PictureError, match=r"p cannot be decoded .*: fetch the file again") as camera:
        decode_rgb(content, "p")
    with pytest.raises(PictureError, match=r"^p ") as stored:
        decode_crop(content, "p")

    assert "0x" not in f"{camera.value} {stored.value}"
    assert "fetch" not in str(stored.value)
