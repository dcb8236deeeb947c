"""The README's example does what its comments say."""

from __future__ import annotations

import re
from pathlib import Path

from callground.caller import tool_caller
from tool_requests import make_synth, rule_teacher
from word_encoder import WordEncoder

README = Path(__file__).parents[4] / "README.md"


def test_the_example_runs(synth, monkeypatch, tmp_path):
    monkeypatch.setattr(tool_caller, "Encoder", WordEncoder)
    monkeypatch.chdir(tmp_path)
    section = README.read_text("utf-8").split("## A caller of your own")[1].split("\n## ")[0]
    (code,) = re.findall(r"```python\n(.*?)```", section, re.DOTALL)
    names = {"teacher": rule_teacher, "requests": [row["text"] for row in make_synth()[0]], "tools": synth[2]}
    exec(compile(code, "README.md", "exec"), names)
    caller = names["caller"]
    assert caller.try_local("find all references to load_user") == {
        "tool": "find_references",
        "args": {"symbol": "load_user"},
    }
    assert (caller.try_local("sing me a song of your choice") or {"tool": None})["tool"] is None
