"""How text is written: in its script, in whole letters, and in lines."""

from importlib.util import find_spec

import pytest
from PIL import Image

from image_workflow_emulator.imaging.words import Face, plain_text, shorten, wrap
from tests.imaging.pictures import WHITE


@pytest.mark.parametrize("size", [8, 11, 40])
def test_the_letters_of_a_line_are_whole(size: int) -> None:
    face = Face(size)
    line = Image.new("RGB", (size * 20, face.line_height))
    tall = Image.new("RGB", (size * 20, face.line_height * 3))

    face.draw(line, 0, face.line_height / 2, "Ågjpqy日", WHITE)
    face.draw(tall, 0, face.line_height * 1.5, "Ågjpqy日", WHITE)

    middle = (0, face.line_height, tall.width, 2 * face.line_height)
    within = tall.crop(middle)
    assert within.tobytes() == line.tobytes()
    tall.paste(0, middle)
    assert tall.getbbox() is None, "a letter reaches out of its line"


@pytest.mark.parametrize(
    "text",
    [
        "Zoë, Łódź, Ελλάδα, Київ, عربي, עברית, हिन्दी, ไทย, ქართული",
        "👩\u200d👩\u200d👧 ✨",
    ],
)
def test_text_is_written_in_its_script(text: str) -> None:
    written = plain_text(text)

    assert written == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("e\u0301", "é"),
        ("a\nb\x00\ud800\ufffe", "a b"),
        ("and so on...", "and so on…"),
    ],
)
def test_text_is_one_line_of_characters(text: str, expected: str) -> None:
    written = plain_text(text)

    assert written == expected


def test_characters_that_no_font_has_are_counted() -> None:
    written = plain_text("\U00013000\U00013001 a")

    assert written == "2 x Egyptian a"


@pytest.mark.skipif(
    find_spec("manimgx_fonts_cjk") is not None,
    reason="the fonts are here",
)
def test_without_its_fonts_chinese_is_counted_by_script() -> None:
    written = plain_text("日本あカcafe")

    assert written == "2 x Han 1 x Hiragana 1 x Katakana cafe"


def test_lines_are_as_wide_as_fits_and_part_no_word() -> None:
    face = Face(20)
    text = "some words that are written in several lines of text"

    lines = wrap(text, face, 150, 10)

    assert " ".join(lines) == text
    assert len(lines) > 2
    for line in lines:
        assert face.length(line) <= 150


def test_a_word_that_is_wider_than_a_line_is_parted() -> None:
    face = Face(20)
    word = "a" * 60

    lines = wrap(word, face, 150, 10)

    assert "".join(lines) == word
    for line in lines:
        assert face.length(line) <= 150


def test_the_last_line_is_shortened() -> None:
    face = Face(20)

    lines = wrap("some words " * 20, face, 150, 2)

    _, last = lines
    assert last.endswith("…")
    assert face.length(last) <= 150


def test_a_text_that_fits_is_not_shortened() -> None:
    face = Face(20)

    shortened = shorten("a word", face, 150)

    assert shortened == "a word"
