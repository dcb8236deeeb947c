"""Diagnostics pushed to an editor: what it sees after each thing that happens."""

from __future__ import annotations

import json
import os
from pathlib import Path
from urllib.parse import unquote, urlsplit

from lsprotocol import types as lsp

from callground_server.convert import path_of
from editor import Editor

API = """\
class Session:
    def get(self, url, *, timeout=None):
        return url


def connect(host):
    return Session()
"""
CLIENT = """\
from api import connect


def fetch(url):
    return connect("host").get(url)
"""
BLOCK = """\


def more(url):
    '😀'; session = connect("host"); session.fetch_all(url)
    invented_helper(url)
    return session.get(url, retries=3)
"""


async def started(editor: Editor, files: dict[str, str]) -> Editor:
    for name, text in files.items():
        path = editor.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode("utf-8"))
    await editor.start()
    return editor


async def test_a_clean_file_has_no_diagnostics(pushed: Editor) -> None:
    await started(pushed, {"api.py": API, "client.py": CLIENT})
    pushed.open("client.py")
    assert await pushed.diagnostics("client.py") == []


async def test_a_block_put_in_and_mended(pushed: Editor) -> None:
    await started(pushed, {"api.py": API, "client.py": CLIENT})
    pushed.open("client.py")
    pushed.splice("client.py", len(CLIENT), len(CLIENT), BLOCK)
    await pushed.shows("client.py", "fetch_all", "invented_helper", "retries")
    pushed.replace("client.py", "fetch_all", "get")
    pushed.replace("client.py", "invented_helper", "connect")
    pushed.replace("client.py", "retries", "timeout")
    await pushed.shows("client.py")


async def test_columns_count_what_the_editor_counts(pushed: Editor) -> None:
    await started(pushed, {"api.py": API})
    assert pushed.encoding == "utf-8"
    pushed.open("client.py", CLIENT + BLOCK)
    line = (CLIENT + BLOCK).split("\n").index("    '😀'; session = connect(\"host\"); session.fetch_all(url)")
    await pushed.shows("client.py", "fetch_all", "invented_helper", "retries")
    first = min(pushed.shown("client.py"), key=lambda diagnostic: diagnostic.range.start.line)
    assert first.range.start == lsp.Position(line, len("    '😀'; session = connect(\"host\"); session.".encode()))


async def test_a_diagnostic_says_what_where_and_why(pushed: Editor) -> None:
    publish = pushed.capabilities.text_document.publish_diagnostics  # type: ignore[union-attr]
    publish.code_description_support = True  # type: ignore[union-attr]
    await started(pushed, {"api.py": API})
    pushed.open("client.py", CLIENT.replace(".get(", ".fetch("))
    await pushed.shows("client.py", "fetch")
    (found,) = pushed.shown("client.py")
    assert found.severity == lsp.DiagnosticSeverity.Error
    assert found.code == "unknown-member"
    assert found.source == "callground"
    assert found.code_description is not None
    page = path_of(found.code_description.href)
    assert Path(page).read_text("utf-8").startswith("#")
    assert found.related_information
    related = found.related_information[0]
    assert related.location.uri == pushed.uri("api.py")
    assert related.location.range.start.line == 0
    assert "Session" in related.message
    assert found.data["owner"] == "api.Session"
    assert found.data["name"] == "fetch"
    json.dumps(found.data)


async def test_a_missing_function_made_in_another_buffer_clears_the_squiggle(pushed: Editor) -> None:
    await started(pushed, {"api.py": API})
    pushed.open("api.py")
    pushed.open("client.py", "from api import connect, later\n\nlater()\n")
    await pushed.shows("client.py", "later")
    pushed.splice("api.py", len(API), len(API), "\n\ndef later(): ...\n")
    await pushed.shows("client.py")
    pushed.replace("api.py", "def later(): ...", "def sooner(): ...")
    await pushed.shows("client.py", "later")


async def test_a_missing_function_made_on_disk_clears_the_squiggle(pushed: Editor) -> None:
    await started(pushed, {"api.py": API})
    pushed.open("client.py", "from api import connect, later\n\nlater()\n")
    await pushed.shows("client.py", "later")
    (pushed.root / "api.py").write_text(API + "\n\ndef later(): ...\n")
    await pushed.shows("client.py")


async def test_a_module_made_on_disk_clears_the_squiggle(pushed: Editor) -> None:
    await started(pushed, {"api.py": API})
    pushed.open("client.py", "import fresh\n\nfresh.f()\n")
    await pushed.shows("client.py", "fresh")
    (pushed.root / "fresh.py").write_text("def f(): ...\n")
    await pushed.shows("client.py")
    os.remove(pushed.root / "fresh.py")
    await pushed.shows("client.py", "fresh")


async def test_closing_without_saving_brings_back_what_is_on_disk(pushed: Editor) -> None:
    await started(pushed, {"api.py": API, "client.py": "import api\n\napi.connect('x')\n"})
    pushed.open("client.py")
    pushed.open("api.py", API.replace("def connect", "def disconnect"))
    await pushed.shows("client.py", "connect")
    pushed.close("api.py")
    await pushed.shows("client.py")


async def test_a_closed_document_shows_nothing(pushed: Editor) -> None:
    await started(pushed, {"api.py": API})
    uri = pushed.open("client.py", "invented()\n")
    await pushed.shows("client.py", "invented")
    pushed.close("client.py")
    await pushed.until(lambda: not pushed.published[uri][-1].diagnostics, "the squiggle to go")


async def test_results_are_for_the_version_that_is_shown(pushed: Editor) -> None:
    await started(pushed, {"api.py": API})
    uri = pushed.open("client.py", CLIENT)
    for number in range(30):
        pushed.splice("client.py", 0, 0, f"# {number}\n")
    await pushed.diagnostics("client.py")
    versions = [params.version for params in pushed.published[uri]]
    assert versions == sorted(versions, key=lambda version: version or 0)
    assert versions[-1] == 31


async def test_half_typed_code_keeps_the_rest(pushed: Editor) -> None:
    await started(pushed, {"api.py": API})
    pushed.open("client.py", CLIENT + "\n\ndef g():\n    invented(1)\n")
    await pushed.shows("client.py", "invented")
    pushed.splice("client.py", len(CLIENT), len(CLIENT), "\nx = connect(\n")
    await pushed.diagnostics("client.py")
    assert "x" not in pushed.underlined("client.py")


async def test_line_ends_of_windows(pushed: Editor) -> None:
    await started(pushed, {"api.py": API.replace("\n", "\r\n")})
    pushed.open("client.py", (CLIENT + "\n\ninvented(1)\n").replace("\n", "\r\n"))
    await pushed.shows("client.py", "invented")
    pushed.replace("client.py", "invented", "connect")
    await pushed.shows("client.py")


async def test_a_document_without_a_file(pushed: Editor) -> None:
    await started(pushed, {"api.py": API})
    pushed.open("untitled:Untitled-1", "import api\n\napi.connect(1)\napi.nothing()\n")
    await pushed.shows("untitled:Untitled-1", "nothing")


async def test_uris_of_every_spelling(pushed: Editor) -> None:
    await started(pushed, {"mit leer ß.py": "def f(): ...\n"})
    plain = pushed.uri("mit leer ß.py")
    encoded = plain.replace("_", "%5F")
    pushed.open(encoded, "invented()\n")
    await pushed.shows(encoded, "invented")
    assert unquote(urlsplit(plain).path).endswith("mit leer ß.py")


async def test_a_file_outside_of_every_folder(pushed: Editor, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "near.py").write_text("def real(): ...\n")
    (elsewhere / "lone.py").write_text("import near\n\nnear.real()\nnear.unreal()\n")
    await started(pushed, {"api.py": API})
    uri = (elsewhere / "lone.py").as_uri()
    pushed.open(uri, (elsewhere / "lone.py").read_text())
    await pushed.shows(uri, "unreal")
