"""The commands beside ``check``."""

from __future__ import annotations

import json
import re
import sys

import pytest

from callground import __version__
from callground.rules import RULES
from callground_server.cli import build_parser, main


def test_version(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"callground {__version__}\n"


def test_help_names_every_command(capsys):
    assert main(["--help"]) == 0
    out = capsys.readouterr().out
    for command in ("check", "rule", "cache", "schema", "doctor", "lsp"):
        assert re.search(rf"^ +{command}\b", out, re.MULTILINE)


@pytest.mark.parametrize("arguments", [[], ["nope"], ["rule", "a", "b"], ["cache"], ["cache", "burn"]])
def test_usage(arguments, capsys):
    assert main(arguments) == 2
    assert "usage: callground" in capsys.readouterr().err


@pytest.mark.parametrize("code", RULES)
def test_rule(code, capsys):
    assert main(["rule", code]) == 0
    assert capsys.readouterr().out == RULES[code].page()


def test_every_rule(capsys):
    assert main(["rule", "--all"]) == 0
    out = capsys.readouterr().out
    assert re.findall(r"^# (.*)$", out, re.MULTILINE) == list(RULES)


def test_list_of_rules(capsys):
    assert main(["rule"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == list(RULES)


def test_a_rule_that_is_none(capsys):
    assert main(["rule", "unknown-nam"]) == 2
    assert capsys.readouterr().err == "callground: no rule `unknown-nam`; did you mean `unknown-name`?\n"


def test_cache(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("CALLGROUND_CACHE_DIR", str(tmp_path / "cache"))
    assert main(["cache", "info"]) == 0
    assert str(tmp_path / "cache") in capsys.readouterr().out
    assert main(["cache", "clear"]) == 0
    assert main(["cache", "clear"]) == 0


def test_doctor(tmp_path, capsys):
    (tmp_path / "a.py").write_text("x = 1\n")
    (tmp_path / "pyproject.toml").write_text("[tool.callground]\nscope = 'changed'\nnope = 1\n")
    assert main(["doctor", "--root", str(tmp_path), "--python", sys.executable]) == 0
    out = capsys.readouterr().out
    for part in (
        __version__,
        str(tmp_path),
        "scope = 'changed'",
        "unknown setting `nope`",
        "1 Python files",
        "pygls",
    ):
        assert part in out


def test_options_of_check_are_the_issues_own():
    options = {option for action in _check_actions() for option in action.option_strings if option.startswith("--")}
    assert {
        "--scope",
        "--since",
        "--python",
        "--format",
        "--strict",
        "--stdin-filename",
        "--explain",
        "--verdicts",
        "--root",
        "--untrusted",
        "--no-progress",
    } <= options


def _check_actions():
    parser = build_parser()
    (commands,) = (a for a in parser._actions if hasattr(a, "choices") and a.dest == "command")
    return commands.choices["check"]._actions


def test_schema_shows_a_real_report(tmp_path, capsys, monkeypatch):
    """The example on the page is what the command prints for the program on the page."""
    monkeypatch.setenv("CALLGROUND_CACHE_DIR", str(tmp_path / "cache"))
    assert main(["schema"]) == 0
    page = capsys.readouterr().out
    code = re.search(r"```python\n(.*?)```", page, re.DOTALL)[1]
    shown = json.loads(re.search(r"```json\n(.*?)```", page, re.DOTALL)[1])
    root = tmp_path / "project"
    root.mkdir()
    (root / "app.py").write_text(code)
    assert main(["check", "--format", "json", "--python", sys.executable, "--root", str(root), str(root)]) == 1
    real = json.loads(capsys.readouterr().out)
    assert real["root"] == str(root)
    assert list(real) == list(shown)
    for key, value in shown.items():
        if key == "environment":
            assert list(real[key]) == list(value)
        elif key != "root":
            assert real[key] == value, key


def test_schema_names_every_key(tmp_path, capsys):
    from callground.verdict.report import GroundingReport

    main(["schema"])
    page = capsys.readouterr().out
    for key in GroundingReport("/", ()).to_json():
        assert f"`{key}`" in page
