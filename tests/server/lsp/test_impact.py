"""An edit that breaks callers elsewhere is a finding of that edit, and of the callers in open files."""

from __future__ import annotations

from pathlib import Path

from editor import Editor

API = """\
class Session:
    def get(self, url): ...


def connect(host):
    return Session()
"""
ONE = "import api\n\n\ndef f():\n    return api.connect('h').get('u')\n"
TWO = "from api import connect\n\n\ndef g():\n    return connect('h')\n"
INSERTED = '''def connect(host, port, *, retries):
    """Connect to a host."""
    session = Session()
    for attempt in range(retries):
        print(host, port, attempt)
    return session
'''


async def started(editor: Editor, scope: str) -> None:
    for name, text in {"api.py": API, "one.py": ONE, "two.py": TWO}.items():
        (editor.root / name).write_text(text)
    editor.settings = {"callground": {"scope": scope}}
    await editor.start()


def messages(editor: Editor, name: str) -> list[str]:
    return [diagnostic.message for diagnostic in editor.shown(name)]


async def test_it_is_shown_at_the_edit_with_the_callers(pushed: Editor) -> None:
    await started(pushed, "all")
    pushed.open("api.py")
    await pushed.diagnostics("api.py")
    start = API.index("def connect")
    pushed.splice("api.py", start, len(API), INSERTED)
    await pushed.shows("api.py", "connect")
    (found,) = pushed.shown("api.py")
    assert found.code == "missing-argument"
    assert "2 calls elsewhere no longer fit (one.py:5, two.py:5)" in found.message
    assert found.related_information is not None
    assert [Path(each.location.uri).name for each in found.related_information] == ["one.py", "two.py"]
    assert [each.location.range.start.line for each in found.related_information] == [4, 4]


async def test_it_goes_when_the_edit_is_taken_back(pushed: Editor) -> None:
    await started(pushed, "all")
    pushed.open("api.py")
    await pushed.diagnostics("api.py")
    pushed.replace("api.py", "def connect(host):", "def connect(host, port):")
    await pushed.shows("api.py", "connect")
    pushed.replace("api.py", "def connect(host, port):", "def connect(host):")
    await pushed.shows("api.py")


async def test_it_goes_when_the_callers_are_mended(pushed: Editor) -> None:
    await started(pushed, "all")
    pushed.open("api.py")
    pushed.open("one.py")
    await pushed.diagnostics("one.py")
    pushed.replace("api.py", "def connect(host):", "def connect(host, port):")
    await pushed.shows("api.py", "connect")
    await pushed.shows("one.py", "connect")
    pushed.replace("one.py", "connect('h')", "connect('h', 1)")
    await pushed.shows("one.py")
    await pushed.until(lambda: any("1 call elsewhere" in each for each in messages(pushed, "api.py")), "one call left")
    (pushed.root / "two.py").write_text(TWO.replace("connect('h')", "connect('h', 1)"))
    await pushed.shows("api.py")


async def test_in_scope_ai_the_callers_are_shown_whoever_wrote_them(pushed: Editor) -> None:
    await started(pushed, "ai")
    pushed.open("one.py")
    pushed.open("api.py")
    await pushed.diagnostics("one.py")
    start = API.index("def connect")
    pushed.splice("api.py", start, len(API), INSERTED)
    await pushed.shows("api.py", "connect")
    await pushed.shows("one.py", "connect")


async def test_a_function_that_is_taken_away(pushed: Editor) -> None:
    await started(pushed, "all")
    pushed.open("api.py")
    await pushed.diagnostics("api.py")
    start = API.index("def connect")
    pushed.splice("api.py", start, len(API), "")
    await pushed.until(lambda: any("breaks `connect`" in each for each in messages(pushed, "api.py")), "the finding")
    (found,) = pushed.shown("api.py")
    assert found.range.start.line == 1, "where something still stands"
