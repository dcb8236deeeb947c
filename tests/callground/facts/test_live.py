"""The facts of a text under edit are those of the last text, and little is parsed for them."""

from __future__ import annotations

import random
import sysconfig
from pathlib import Path

import pytest

from callground.facts.extract import extract_module
from callground.facts.live import LiveModule
from callground.text.edits import Edit

TEXT = "import a\n\n\ndef f():\n    return 1\n\n\nclass C:\n    def m(self):\n        self.x = 1\n"


def test_an_edit_parses_only_its_piece() -> None:
    module = LiveModule.from_text(TEXT)
    assert module.built == (0, 1, 2)
    after = module.edit(TEXT.replace("return 1", "return 2"))
    assert after.built == (1,)
    assert after.facts == extract_module(after.text)
    # The rows of the other pieces are the very same objects.
    assert after.facts.pieces[2] is module.facts.pieces[2]


def test_lines_above_move_what_is_below_without_parsing_it() -> None:
    module = LiveModule.from_text(TEXT)
    after = module.edit([Edit(0, 0, "# a\n# b\n")])
    assert after.built == (0,)
    assert after.facts.starts == (1, 4, 8)
    assert after.facts.pieces[1:] == module.facts.pieces[1:]


def test_text_that_cannot_be_read_comes_and_goes() -> None:
    module = LiveModule.from_text("x = 1\n")
    broken = module.edit("x = 1\0\n")
    assert (broken.facts.error, broken.built) == ("not-text", ())
    mended = broken.edit([Edit(5, 6, "")])
    assert mended.facts == extract_module("x = 1\n")


STDLIB = Path(sysconfig.get_paths()["stdlib"])


@pytest.mark.parametrize("name", ["contextlib.py", "dataclasses.py", "shlex.py", "textwrap.py"])
def test_a_session_of_edits_in_a_real_module(name: str) -> None:
    text = (STDLIB / name).read_text(encoding="utf-8")
    choices = random.Random(name)
    module = LiveModule.from_text(text)
    inserts = [
        "",
        "x",
        "(",
        ")",
        '"""',
        "'",
        "\n",
        "    ",
        "def f():\n    pass\n",
        "#",
        "\\",
        "else:\n",
        "\r\n",
    ]
    for _ in range(25):
        start = choices.randint(0, len(text))
        end = min(len(text), start + choices.choice([0, 0, 1, 40]))
        edit = Edit(start, end, choices.choice(inserts))
        text = text[:start] + edit.text + text[end:]
        module = module.edit([edit])
        assert module.text == text
        assert module.facts == extract_module(text)
