"""What edits are taken for, in tables: each row is one session of a few edits."""

from __future__ import annotations

import pytest

from callground.provenance.book import BY_DISK, Book
from callground.provenance.intervals import AI, HUMAN, UNKNOWN, Stamp, in_scope
from callground.provenance.ledger import Ledger
from callground.provenance.scope import Place, stamps_in
from callground.text.edits import Edit

BASE = """\
import os


def first(items, key):
    value = client.load_row(items, key)
    return value


def second(rows):
    return store.save_row(rows, 3)
"""
BLOCK = """\
def third(rows):
    total = parser.fetch_page(rows, limit=3)
    return send_report(total)
"""


def marked(ledger: Ledger) -> str:
    """The text that scope ai looks at, pieces joined by a bar."""
    return "|".join(ledger.text[span.start : span.end].strip() for span in in_scope(ledger.spans))


def put(ledger: Ledger, before: str, new: str, now: float, old: str = "") -> None:
    """Put text in before some other text (its first place), in place of `old`."""
    start = ledger.text.index(before) if before else len(ledger.text)
    assert ledger.text.startswith(old, start)
    ledger.change([Edit(start, start + len(old), new)], now)


def type_(ledger: Ledger, before: str, text: str, now: float, each: float = 0.05) -> None:
    start = ledger.text.index(before) if before else len(ledger.text)
    for number, key in enumerate(text):
        ledger.change([Edit(start + number, start + number, key)], now + number * each)


# what was typed on a line of its own, what then came in one piece, whether that is an assistant's
INLINE = [
    ("    result = ", "compute_total(rows, 0.2)", True),
    ("    result = comp", "ute_total(rows, 0.2)", True),
    ("    ", "compute_total(rows)", True),
    ("    ", "for row in rows:\n        handle(row, 1)", True),
    ("    if ", "ready(rows) and not rows.closed:", True),
    ("    data = await ", "client.fetch(url, timeout=3)", True),
    ("    value = ", "[convert(row) for row in rows]", True),
    ("    value = ", "build(\n        rows,\n    )", True),
    ("    compute(", "rows, limit=3)", True),
    ("    compute(", "rows, 'utf-8')", True),
    # completions
    ("    result = comp", "ute_total", False),
    ("    result = comp", "ute_total()", False),
    ("    result = comp", "ute_total(", False),
    ("    result = client.", "load_row", False),
    ("    result = client.", "cache.load_row()", False),
    ("    compute(", "rows", False),
    ("    compute(", "rows, limit", False),
    # no calls
    ("    # ", "see parse(rows, 3) for more", False),
    ("    text = ", "'call parse(rows, 3) here'", False),
    ("", "def fourth(rows, limit=3):\n    pass\n", False),
    ("", "class Thing(Base):\n    name = 'x'\n", False),
    ("", "from os.path import join, split\n", False),
    ("    value = ", "rows[0] + rows[1] * 3", False),
]


@pytest.mark.parametrize(("typed", "inserted", "ai"), INLINE)
def test_text_in_one_piece_behind_what_was_typed(typed: str, inserted: str, ai: bool) -> None:
    ledger = Ledger(BASE + "\n\ndef last(rows):\n")
    type_(ledger, "", typed, 0.0)
    put(ledger, "", inserted, 9.0)
    assert marked(ledger) == (inserted.strip() if ai else "")


def test_whole_lines_may_be_pasted_and_are_in_scope() -> None:
    ledger = Ledger(BASE)
    put(ledger, "def second", BLOCK + "\n\n", 1.0)
    assert {span.stamp.origin for span in ledger.spans} == {UNKNOWN}
    assert marked(ledger) == BLOCK.strip()


@pytest.mark.parametrize("each", [0.001, 0.05, 0.3])
def test_typed_text_is_a_persons_however_fast(each: float) -> None:
    ledger = Ledger(BASE)
    type_(ledger, "def second", BLOCK, 0.0, each)
    assert ledger.spans == ()


def test_keys_gathered_in_one_notification_are_typed() -> None:
    ledger = Ledger(BASE)
    start = len(BASE)
    ledger.change([Edit(start + n, start + n, key) for n, key in enumerate(BLOCK)], 0.0)
    assert ledger.text == BASE + BLOCK
    assert ledger.spans == ()


def test_a_key_and_ghost_text_in_one_notification() -> None:
    ledger = Ledger(BASE)
    start = len(BASE)
    ledger.change([Edit(start, start, "r"), Edit(start + 1, start + 1, " = compute(rows, 3)")], 0.0)
    assert marked(ledger) == "= compute(rows, 3)"


def keys(start: int, text: str) -> list[Edit]:
    return [Edit(start + n, start + n, key) for n, key in enumerate(text)]


@pytest.mark.parametrize(("together", "marks"), [(1, True), (3, True), (15, False), (200, False)])
def test_more_keys_at_once_than_this_person_ever_presses(together: int, marks: bool) -> None:
    """As Neovim sends what a register or a plugin puts in while somebody types."""
    ledger = Ledger(BASE)
    line = "\nvalue = 1234567890 + some_name_that_is_long + other\nresult = "
    for number in range(0, len(line), together):
        ledger.change(keys(len(ledger.text), line[number : number + together]), number * 0.1)
    ledger.change(keys(len(ledger.text), "compute(rows, limit=3)"), 60.0)
    assert marked(ledger) == ("compute(rows, limit=3)" if marks else "")


def test_a_function_that_is_extracted() -> None:
    """What moves into a new function stays whose it was."""
    body = "    total = parser.fetch_page(rows, limit=3)\n    other = store.save_page(total, 9)\n"
    ledger = Ledger(BASE + "\n\ndef run(rows):\n" + body + "    return other\n")
    start = ledger.text.index(body)
    new = "def taken_out(rows):\n" + body + "    return other\n\n\n"
    ledger.change([Edit(start, start + len(body), "    other = None\n")], 1.0)
    put(ledger, "def run", new, 1.1)
    assert marked(ledger) == ""


def test_a_completion_of_whole_lines() -> None:
    ledger = Ledger(BASE)
    type_(ledger, "", "    value = cl", 0.0)
    put(ledger, "", "ient.load_row(items, key)", 5.0)
    assert marked(ledger) == ""


def pieces_of(text: str, size: int) -> list[str]:
    return [text[n : n + size] for n in range(0, len(text), size)]


@pytest.mark.parametrize("size", [2, 3, 7, 20])
@pytest.mark.parametrize("together", [1, 5, 100])
def test_a_stream_is_one_insertion(size: int, together: int) -> None:
    ledger = Ledger(BASE)
    edits, at = [], len(BASE)
    for piece in pieces_of(BLOCK, size):
        edits.append(Edit(at, at, piece))
        at += len(piece)
    for number in range(0, len(edits), together):
        ledger.change(edits[number : number + together], number * 0.02)
    assert "fetch_page(rows, limit=3)" in marked(ledger)
    assert "send_report(total)" in marked(ledger)


def test_a_person_who_goes_on_behind_a_stream() -> None:
    ledger = Ledger(BASE)
    at = len(BASE)
    for number, piece in enumerate(pieces_of(BLOCK, 6)):
        ledger.change([Edit(at, at, piece)], number * 0.02)
        at += len(piece)
    type_(ledger, "", "other = typed_by_hand(rows, 4)", 1.0, 0.02)
    assert "send_report" in marked(ledger)
    assert "typed_by_hand" not in marked(ledger)


def test_the_last_statement_of_a_stream_grows() -> None:
    ledger = Ledger(BASE)
    put(ledger, "", "value = compute(", 1.0)
    assert ledger.growing(1.0, 0.3) is None  # one insertion is complete
    put(ledger, "", "\n    rows,\n", 1.05)
    low, high = ledger.growing(1.1, 0.3) or (0, 0)
    assert ledger.text[low:high].startswith("value = compute(")
    assert ledger.growing(1.36, 0.3) is None


# -- text that comes back


def test_undo_and_redo_bring_back_the_origin() -> None:
    ledger = Ledger(BASE)
    put(ledger, "def second", BLOCK + "\n\n", 0.0)
    before = marked(ledger)
    for number in range(3):
        put(ledger, BLOCK, "", 5.0 + number, BLOCK + "\n\n")
        assert marked(ledger) == ""
        put(ledger, "def second", BLOCK + "\n\n", 7.0 + number)
        assert marked(ledger) == before.rstrip(")")  # words carry the origin, brackets follow them
    put(
        ledger,
        "def first",
        "",
        20.0,
        "def first(items, key):\n    value = client.load_row(items, key)\n    return value\n",
    )
    put(ledger, "", "def first(items, key):\n    value = client.load_row(items, key)\n    return value\n", 25.0)
    assert "load_row" not in marked(ledger)


def test_what_is_erased_key_by_key_comes_back_in_one_piece() -> None:
    ledger = Ledger(BASE)
    put(ledger, "", "value = compute(rows, 3)", 0.0)
    for number in range(len("compute(rows, 3)")):
        end = len(ledger.text)
        ledger.change([Edit(end - 1, end, "")], 3.0 + number * 0.05)
    put(ledger, "", "compute(rows, 3)", 9.0)
    assert "compute(rows, 3" in marked(ledger)
    type_(ledger, "", "\nother = typed(rows, 4)", 20.0)
    for number in range(len("typed(rows, 4)")):
        end = len(ledger.text)
        ledger.change([Edit(end - 1, end, "")], 30.0 + number * 0.05)
    put(ledger, "", "typed(rows, 4)", 39.0)
    assert "typed" not in marked(ledger)


@pytest.mark.parametrize("pause", [0.0, 0.15, 0.5, 3.0])
def test_moved_lines_are_whose_they_were(pause: float) -> None:
    """As Neovim sends ``:move``: the insertion first, the deletion when it next sends something."""
    line = "    value = client.load_row(items, key)\n"
    ledger = Ledger(BASE)
    put(ledger, "def second", line, 1.0)
    put(ledger, line, "", 1.0 + pause, line)
    assert marked(ledger) == ""
    put(ledger, "def second", "    mine = ghost_text(rows, 1)\n", 20.0)
    put(ledger, "import os", "    mine = ghost_text(rows, 1)\n", 30.0)
    at = ledger.text.rindex("    mine = ghost_text")
    ledger.change([Edit(at, at + len("    mine = ghost_text(rows, 1)\n"), "")], 30.0 + pause)
    assert "ghost_text" in marked(ledger)


@pytest.mark.parametrize("pause", [0.05, 0.4, 4.0])
def test_cut_here_and_paste_there(pause: float) -> None:
    book = Book()
    book.open("a", BASE)
    book.open("b", "x = 1\n")
    start = BASE.index("def second")
    book.change("a", [Edit(start, len(BASE), "")], 1.0)
    book.change("b", [Edit(0, 0, BASE[start:])], 1.0 + pause)
    assert book.spans("b") == ()


def test_copied_from_another_open_document() -> None:
    book = Book()
    book.open("a", BASE)
    book.open("b", "x = 1\n")
    book.change("b", [Edit(0, 0, "    return store.save_row(rows, 3)\n")], 1.0)
    assert book.spans("b") == ()


def test_an_insertion_is_looked_for_in_the_rest_of_the_workspace() -> None:
    ledger = Ledger(BASE)
    put(ledger, "def second", BLOCK + "\n\n", 0.0)
    (lookup,) = ledger.lookups
    assert lookup.text.strip() == BLOCK.strip()
    type_(ledger, "import os", "import re\n", 1.0)
    assert ledger.found_elsewhere(lookup.number)
    assert marked(ledger) == ""
    assert not ledger.found_elsewhere(lookup.number)


@pytest.mark.parametrize("pause", [None, 0.02, 0.3])
def test_a_rewritten_block_marks_only_the_new_calls(pause: float | None) -> None:
    old = "    value = client.load_row(items, key)\n    return value\n"
    new = "    check_row(items, 3)\n    value = client.load_row(items, key)\n    return wrap_row(value, key)\n"
    ledger = Ledger(BASE)
    if pause is None:
        put(ledger, old, new, 1.0, old)
    else:
        at = BASE.index(old)
        put(ledger, old, "", 1.0, old)
        ledger.change([Edit(at, at, new)], 1.0 + pause)
    assert "check_row" in marked(ledger)
    assert "wrap_row" in marked(ledger)
    assert "load_row" not in marked(ledger)


# a change of form or of names: before, after
HUMAN_REPLACEMENTS = [
    ("    save(a,b ,'x')\n", '    save(a, b, "x")\n'),
    (
        "    value = save(first_argument, second_argument)\n",
        "    value = save(\n        first_argument,\n        second_argument,\n    )\n",
    ),
    ("    b(1, 2)\n    a(1, 2)\n    c(3, 4)\n", "    a(1, 2)\n    b(1, 2)\n    c(3, 4)\n"),
    ("    load(a, 1)\n    load(b, 2)\n", "    fetch(a, 1)\n    fetch(b, 2)\n"),
    ("    load(a, 1)\n    save(b, 2)\n", "    x = wrap(load(a, 1), 9)\n    x = wrap(save(b, 2), 9)\n"),
    ("    load(a, 1)\n    save(b, 2)\n", "    # load(a, 1)\n    # save(b, 2)\n"),
    ("    # load(a, 1)\n    # save(b, 2)\n", "    load(a, 1)\n    save(b, 2)\n"),
    ("load(a, 0XFF)\n", "load(a, 0xFF)\n"),
    ("load(a, U'x')\n", "load(a, 'x')\n"),
]


@pytest.mark.parametrize(("old", "new"), HUMAN_REPLACEMENTS)
@pytest.mark.parametrize("whole", [False, True])
def test_form_and_names_change_and_the_author_stays(old: str, new: str, whole: bool) -> None:
    ledger = Ledger(BASE + old)
    if whole:
        ledger.change([Edit(0, len(ledger.text), BASE + new)], 1.0)
    else:
        put(ledger, old, new, 1.0, old)
    assert marked(ledger) == ""
    ledger = Ledger(BASE)
    put(ledger, "", old, 1.0)
    if not marked(ledger):
        return
    ledger.change([Edit(0, len(ledger.text), BASE + new)], 5.0)
    assert marked(ledger) != ""


def test_a_trigger_that_expands_to_a_few_words() -> None:
    ledger = Ledger(BASE)
    type_(ledger, "", "log", 0.0)
    end = len(ledger.text)
    ledger.change([Edit(end - 3, end, ""), Edit(end - 3, end - 3, "logger = get_logger(__name__)")], 1.0)
    assert marked(ledger) == ""


def test_a_completion_with_placeholders() -> None:
    """Sent as the whole word with its brackets in place of what was typed."""
    ledger = Ledger(BASE)
    type_(ledger, "", "comp", 0.0)
    end = len(ledger.text)
    ledger.change([Edit(end - 4, end, "compute_total(items, tax)")], 1.0)
    assert marked(ledger) == ""


def test_several_cursors_put_in_the_same() -> None:
    ledger = Ledger("a\nb\nc\n")
    ledger.change([Edit(5, 5, " + load(x, 1)"), Edit(3, 3, " + load(x, 1)"), Edit(1, 1, " + load(x, 1)")], 1.0)
    assert ledger.text == "a + load(x, 1)\nb + load(x, 1)\nc + load(x, 1)\n"
    assert marked(ledger) == ""


# -- told, and from the disk


def test_a_file_that_somebody_else_wrote() -> None:
    ledger = Ledger(BASE)
    ledger.reload(BASE.replace("store.save_row(rows, 3)", "store.keep(rows, 3)") + BLOCK, BY_DISK)
    assert "keep" in marked(ledger)
    assert "send_report" in marked(ledger)
    assert "load_row" not in marked(ledger)
    ledger.reload(BASE, None)
    assert marked(ledger) == ""
    ledger.reload(BASE + BLOCK, None)
    assert "send_report" in marked(ledger)  # it was put aside and came back


def test_marked_by_hand() -> None:
    ledger = Ledger(BASE)
    put(ledger, "", BLOCK, 0.0)
    start = ledger.text.index("    total = parser")
    ledger.mark(start, start + 20, Stamp(HUMAN, "by-hand"))
    assert marked(ledger).startswith("def third(rows):|")
    ledger.mark(0, len(BASE), Stamp(AI, "by-hand"))
    assert "load_row" in marked(ledger)


def test_a_call_around_anothers_call_is_its_authors() -> None:
    ledger = Ledger(BASE)
    put(ledger, "", "compute(rows, 3)", 0.0)
    type_(ledger, "compute(", "outer(", 5.0)
    type_(ledger, "", ", typed(9))", 9.0)
    outer = ledger.text.index("outer(")
    inner, typed = ledger.text.index("compute("), ledger.text.index("typed(")
    end = len(ledger.text)
    places = [Place(outer, end), Place(inner, inner + 16), Place(typed, typed + 8)]
    assert [stamp is not None for stamp in stamps_in(ledger.text, ledger.spans, places)] == [False, True, False]


def test_off_means_that_nothing_is_judged() -> None:
    ledger = Ledger(BASE, watching=False)
    put(ledger, "", BLOCK, 0.0)
    assert ledger.spans == ()
