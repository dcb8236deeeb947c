"""Calls for a place of a Python file: found, written, judged.  The network here is a stand-in: words, hashed."""

from __future__ import annotations

import sys
import zlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from callground.caller.code_combiner import RELATIVE, CodeCombiner, CombinerError, Weights
from callground.caller.code_context import Shape, shape_of, situation
from callground.caller.code_features import COUNT, FEATURES
from callground.caller.code_request import asked_at, is_request
from callground.caller.code_suggestions import CodeCaller, CodeSuggestion
from callground.caller.code_tools import CodeTools, stems
from callground.graph.driver import Stopped
from callground.session import Session

MAIL = '''"""Mail."""
import enum
from typing import Literal


class Mailer:
    """Sends mail."""

    def __init__(self, host: str) -> None:
        self.host = host

    def send_message(self, recipient: str, subject: str, *, priority: int = 0) -> bool:
        """Send one message to a recipient."""
        return bool(recipient)

    @property
    def address(self) -> str:
        """Where it sends from."""
        return self.host

    @classmethod
    def from_settings(cls, settings: dict[str, str]) -> "Mailer":
        """Make a mailer from settings."""
        return cls(settings["host"])


class QuickMailer(Mailer):
    """Sends mail at once."""


def load_config(path: str, mode: Literal["strict", "loose"] = "strict") -> dict[str, str]:
    """Read the configuration file."""
    return {}


def resize_picture(width: int) -> None:
    """Resize the picture."""


async def fetch_user(user_id: int) -> dict[str, str]:
    """Fetch a user by its id."""
    return {}


def _hidden_helper(path: str) -> None:
    """Hide the helper file."""
'''


class Hashed:
    """An encoder whose vectors are words: alike is what shares words."""

    path = Path("nowhere")

    def available(self) -> str | None:
        return None

    def encode(self, texts: Sequence[str], stop: Callable[[], bool] | None = None) -> Any:
        rows = []
        for text in texts:
            row = np.zeros(384, np.float32)
            for word in stems(text):
                row[zlib.crc32(word.encode()) % 384] += 1
            rows.append(row / (np.linalg.norm(row) or 1))
        return np.stack(rows) if rows else np.zeros((0, 384), np.float32)


def by_hand(threshold: float = 0.6) -> CodeCombiner:
    """A ranking with weights that anybody would choose."""
    names = list(FEATURES)
    size = COUNT + 2 * len(RELATIVE)
    linear = np.zeros(size, np.float32)
    for name, weight in {"cosine": 8, "overlap": 6, "receiver": 1, "receiver self": 1, "no receiver": -3}.items():
        linear[names.index(name)] = weight
    nothing = np.zeros((size, 1), np.float32)
    weights = Weights(
        np.zeros(size, np.float32),
        np.ones(size, np.float32),
        linear,
        nothing,
        np.zeros(1, np.float32),
        np.zeros(1, np.float32),
    )
    return CodeCombiner([weights], np.array([6, 2, 0, 2, 0, 0, 1, -5], np.float32), threshold=threshold)


class Desk:
    """A project with `mail.py` and one file that is written."""

    def __init__(self, root: Path) -> None:
        self.root = root
        (root / "pyproject.toml").write_text("")
        (root / "mail.py").write_text(MAIL)
        (root / "main.py").write_text("")
        self.session = Session.open(str(root), python=sys.executable)
        self.session.index()
        self.caller = CodeCaller(Hashed(), by_hand())  # type: ignore[arg-type]

    def suggest(self, text: str, **options: Any) -> list[CodeSuggestion]:
        """Suggestions where ``|`` stands."""
        at = text.index("|")
        return self.caller.suggest(
            self.session.workspace.snapshot(), str(self.root / "main.py"), text[:at] + text[at + 1 :], at, **options
        )


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    made = Desk(tmp_path_factory.mktemp("project"))
    with made.session:
        yield made


def written(text: str, found: CodeSuggestion) -> str:
    """The text with a suggestion in it."""
    text = text.replace("|", "")
    for edit in sorted([*found.edits, (found.start, found.end, found.text)], reverse=True):
        text = text[: edit[0]] + edit[2] + text[edit[1] :]
    return text


def test_a_comment_gives_a_call_with_its_import(desk: Desk) -> None:
    text = "import os\n\n\ndef run(path: str) -> None:\n    # Read the configuration file|\n    print(config)\n"
    found = desk.suggest(text)[0]
    assert written(text, found) == (
        "import os\n\nfrom mail import load_config\n\n\ndef run(path: str) -> None:\n"
        "    # Read the configuration file\n    config = load_config(path)\n    print(config)\n"
    )
    assert found.callee == "mail.load_config"
    assert found.import_ == "from mail import load_config"


def test_a_method_is_called_on_what_has_it(desk: Desk) -> None:
    text = (
        "from mail import QuickMailer\n\n\ndef run(recipient: str, subject: str) -> None:\n"
        "    box = QuickMailer('h')\n    # Send the message to the recipient\n    |\n"
    )
    found = desk.suggest(text)
    assert found[0].text == "    box.send_message(recipient, subject)"
    assert all(".address" not in each.text for each in found), "a property is not called"


def test_without_a_receiver_a_method_is_not_offered(desk: Desk) -> None:
    text = "def run(box, recipient: str, subject: str) -> None:\n    # Send the message to the recipient\n    |\n"
    assert all("send_message" not in each.text for each in desk.suggest(text))


def test_a_class_method_needs_the_class_alone(desk: Desk) -> None:
    text = "def run(settings: dict[str, str]) -> None:\n    # Make a mailer from the settings\n    |\n"
    found = desk.suggest(text)[0]
    assert found.text == "    Mailer.from_settings(settings)"
    assert found.import_ == "from mail import Mailer"


def test_the_beginning_of_a_statement_is_kept(desk: Desk) -> None:
    text = "import mail\n\n\ndef run(path: str):\n    # Read the configuration file\n    return |\n"
    found = desk.suggest(text)[0]
    assert found.text == "    return mail.load_config(path)"
    assert found.import_ == ""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("async def run(user_id: int):\n    # Fetch the user by id\n    |\n", "    await fetch_user(user_id)"),
        (
            "async def run(user_id: int):\n    # Fetch the user by id\n    user = await |\n",
            "    user = await fetch_user(user_id)",
        ),
    ],
)
def test_coroutines_are_awaited(desk: Desk, text: str, expected: str) -> None:
    assert desk.suggest(text)[0].text == expected


def test_a_coroutine_is_not_called_where_nobody_can_await_it(desk: Desk) -> None:
    assert all(
        "fetch_user" not in each.text
        for each in desk.suggest("def run(user_id: int):\n    # Fetch the user by id\n    |\n")
    )


def test_values_that_the_request_says(desk: Desk) -> None:
    assert desk.suggest("# Resize the picture to a width of 300\n|\n")[0].text == "resize_picture(300)"
    loose = desk.suggest("# Read the configuration file 'a.toml', loose\n|\n")[0]
    assert loose.text == "load_config('a.toml', 'loose')"


def test_what_is_not_said_is_a_place_to_fill_in_and_never_shown_unasked(desk: Desk) -> None:
    text = "# Resize the picture\n|\n"
    found = desk.suggest(text)[0]
    assert (found.text, found.placeholders, found.shown_unasked) == ("resize_picture(...)", ("width",), False)
    assert desk.suggest(text, explicit=False) == []


def test_unasked_only_what_is_sure(desk: Desk) -> None:
    text = "def run(path: str) -> None:\n    # Read the configuration file\n    |\n"
    assert [each.shown_unasked for each in desk.suggest(text, explicit=False)] == [True]
    desk.caller.combiner.threshold = 2.0
    try:
        assert desk.suggest(text, explicit=False) == []
        assert desk.suggest(text), "who asks gets the list all the same"
    finally:
        desk.caller.combiner.threshold = 0.6


def test_a_request_that_fits_nothing(desk: Desk) -> None:
    assert desk.suggest("# paint the moon green\n|\n") == []


def test_a_name_that_is_private_to_another_file_is_not_imported(desk: Desk) -> None:
    text = "def run(path: str) -> None:\n    # Hide the helper file\n    |\n"
    assert all("_hidden_helper" not in each.text for each in desk.suggest(text))


def test_code_that_does_not_parse_around_it_gives_nothing_wrong(desk: Desk) -> None:
    for text in ("def run(:\n    # Read the configuration file\n    |\n", "x = (\n# Read the configuration file\n|\n"):
        assert isinstance(desk.suggest(text), list)


def test_what_is_not_wanted_any_more_stops(desk: Desk) -> None:
    with pytest.raises(Stopped):
        desk.suggest("# Read the configuration file\n|\n", stop=lambda: True)


def test_reasons_name_features(desk: Desk) -> None:
    found = desk.suggest("def run(path: str):\n    # Read the configuration file\n    |\n", explain=True)[0]
    assert found.reasons
    assert {reason.feature for reason in found.reasons} <= set(FEATURES)
    assert found.reasons[0].effect > 0


def test_tools_are_read_once_a_version(desk: Desk) -> None:
    tools = CodeTools()
    snapshot = desk.session.workspace.snapshot()
    assert tools.missing(snapshot)
    table = tools.table(snapshot)
    assert table is not None
    assert tools.missing(snapshot) == []
    assert tools.table(snapshot) is table
    other = snapshot.with_overlay({str(desk.root / "mail.py"): "def only_this(a): ...\n"})
    changed = tools.table(other)
    assert changed is not None
    assert [tool.name for tool in changed.tools] == ["only_this"]


def test_the_situation_of_a_place(desk: Desk) -> None:
    text = (
        "from mail import Mailer\n\n\nclass Post:\n    def __init__(self) -> None:\n        self.box = Mailer('h')\n\n"
        "    async def run(self, recipient: str) -> None:\n        # send\n        \n        print(answer)\n"
    )
    path = str(desk.root / "main.py")
    snapshot = desk.session.workspace.snapshot().with_overlay({path: text})
    found = situation(snapshot, path, text, 10, "send", Shape())
    assert found is not None
    assert (found.function, found.owner, found.is_async) == ("run", "Post", True)
    assert found.wanted_below == {"answer"}
    assert found.receivers["main", "Post"] == ["self"]
    assert {"recipient", "self"} <= {name.text for name in found.names}
    assert found.imported["Mailer"] == ("mail", "Mailer")


@pytest.mark.parametrize(
    ("prefix", "target", "awaited"),
    [("x = ", "x", False), ("self.a.b = await ", "b", True), ("await ", "", True), ("x: int = ", "x", False)],
)
def test_shapes(prefix: str, target: str, awaited: bool) -> None:
    shape = shape_of(prefix)
    assert shape is not None
    assert (shape.target, shape.awaited) == (target, awaited)


@pytest.mark.parametrize("prefix", ["x = foo(", "print", "if a:", "x == ", "x[1] = "])
def test_no_shape(prefix: str) -> None:
    assert shape_of(prefix) is None


@pytest.mark.parametrize(
    ("comment", "expected"),
    [
        ("Read the configuration file", True),
        ("lies die Datei mit den Einstellungen", True),
        ("noqa: E501 because it is long", False),
        ("type: ignore", False),
        ("TODO read the file", False),
        ("x = load(path)", False),
        ("---------------", False),
        ("a", False),
    ],
)
def test_which_comments_are_requests(comment: str, expected: bool) -> None:
    assert is_request(comment) is expected


def test_a_comment_about_the_code_under_it_is_no_request_unless_asked() -> None:
    text = "# Read the configuration file\nconfig = {}\n"
    at = text.index("\n")
    assert asked_at(text, at) is None
    asked = asked_at(text, at, explicit=True)
    assert asked is not None
    assert (asked.line, asked.before) == (2, "\n")


def test_the_docstring_or_the_name_of_a_function_is_a_request_when_asked() -> None:
    text = 'def read_settings(path):\n    """Read all settings.\n\n    More.\n    """\n    '
    assert asked_at(text, len(text)) is None
    asked = asked_at(text, len(text), explicit=True)
    assert asked is not None
    assert (asked.request, asked.kind) == ("Read all settings.", "docstring")
    bare = asked_at("def read_settings(path):\n    ", 29, explicit=True)
    assert bare is not None
    assert (bare.request, bare.kind) == ("read settings", "function")


def test_a_file_for_other_features_is_refused(tmp_path: Path) -> None:
    data = by_hand().to_json()
    assert CodeCombiner.from_json(data).to_json() == data
    data["features"] = data["features"][:-1]
    with pytest.raises(CombinerError):
        CodeCombiner.from_json(data)
    with pytest.raises(CombinerError):
        CodeCombiner.read(tmp_path)
