"""The contract's page: its examples are what really comes out."""

from __future__ import annotations

import json
import re
import sys
from importlib import resources

import pytest

from callground.gate import answer
from callground.rules import RULES
from callground.rules.tool_codes import TOOL_CODES
from callground.session import Session
from callground.toolcalls.ground import KINDS
from callground_server.gate.wire import KEYS, read_request

PAGE = (resources.files("callground.gate") / "gate.md").read_text("utf-8")
EXAMPLES = re.findall(r"```json request\n(.*?)```\s+```json answer\n(.*?)```", PAGE, re.DOTALL)


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    root = tmp_path_factory.mktemp("page")
    for name, text in re.findall(r"```python (\S+)\n(.*?)```", PAGE, re.DOTALL):
        (root / name).write_text(text)
    with Session.open(str(root), python=sys.executable, cache=str(root / ".cache")) as opened:
        opened.index()
        yield opened


def shown_in(part, whole):
    """Whether everything of `part` is in `whole`, lists item by item."""
    if isinstance(part, dict):
        return isinstance(whole, dict) and all(k in whole and shown_in(v, whole[k]) for k, v in part.items())
    if isinstance(part, list):
        return len(part) == len(whole) and all(map(shown_in, part, whole))
    return part == whole


def test_there_are_examples():
    assert len(EXAMPLES) == 3


@pytest.mark.parametrize(("request_", "expected"), EXAMPLES)
def test_examples(session, request_, expected):
    made = answer(session, read_request(json.loads(request_), session.root)).to_json()
    assert shown_in(json.loads(expected), made), json.dumps(made, indent=1)


def test_every_member_and_every_code_is_described():
    for key in KEYS:
        assert f"`{key}`" in PAGE, key
    for code in KINDS:
        assert f"| `{code}` |" in PAGE, code
    assert set(KINDS) <= {*RULES, *TOOL_CODES}
