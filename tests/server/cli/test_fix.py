"""``callground fix``, ``related``, ``locate``, and the ranking in ``check --explain``."""

from __future__ import annotations

import subprocess
import sys

import pytest

from callground_server.cli import main
from callground_server.cli.fix import write
from projects import write_files

FILES = {
    "shop.py": """
        class Client:
            def fetch(self, path, retries=2):
                return path


        def load_items(path):
            return [path]
        """,
    "app.py": "import shop\n\nshop.Client().fetch_page('x')\nprint(shop.read_items('y'))\nshop.qwertz()\n",
}
FIXED = "import shop\n\nshop.Client().fetch('x')\nprint(shop.load_items('y'))\nshop.qwertz()\n"


@pytest.fixture
def project(tmp_path, monkeypatch):
    root = tmp_path / "project"
    write_files(root, {name: text.lstrip("\n") for name, text in FILES.items()})
    monkeypatch.chdir(root)
    monkeypatch.setenv("CALLGROUND_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("NO_COLOR", "1")
    return root


def run(*arguments):
    return main([*arguments, "--python", sys.executable])


def test_fix_lists_and_changes_nothing(project, capsys):
    assert run("fix") == 1
    out = capsys.readouterr().out
    assert "app.py:3: class `shop.Client` has no member `fetch_page`" in out
    assert "Replace with `shop.load_items(path)`" in out
    assert "no repair is certain" in out
    assert "2 repairs to apply in 1 file, 1 finding left" in out
    assert (project / "app.py").read_text("utf-8") == FILES["app.py"]


def test_fix_diff_is_a_patch(project, capsys):
    assert run("fix", "--diff") == 1
    patch = capsys.readouterr().out
    (project / "fix.patch").write_text(patch, "utf-8")
    done = subprocess.run(["git", "apply", "fix.patch"], cwd=project, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    assert (project / "app.py").read_text("utf-8") == FIXED


def test_fix_writes(project, capsys):
    assert run("fix", "app.py", "--write") == 1
    assert "2 repairs applied in 1 file, 1 finding left" in capsys.readouterr().out
    assert (project / "app.py").read_text("utf-8") == FIXED
    (project / "app.py").write_text(FIXED.replace("shop.qwertz()\n", ""), "utf-8")
    assert run("fix", "app.py", "--write") == 0
    assert "nothing to repair" in capsys.readouterr().out


def test_fix_keeps_encoding_mark_and_line_ends(project):
    text = "# -*- coding: latin-1 -*-\r\nimport shop\r\n\r\nprint('\xe4', shop.read_items('y'))\r\n"
    (project / "one.py").write_bytes(text.encode("latin-1"))
    marked = "import shop\n\nshop.read_items('\u65e5')\n"
    (project / "two.py").write_bytes(b"\xef\xbb\xbf" + marked.encode("utf-8"))
    assert run("fix", "one.py", "two.py", "--write") == 0
    assert (project / "one.py").read_bytes() == text.replace("read_items", "load_items").encode("latin-1")
    assert (project / "two.py").read_bytes() == b"\xef\xbb\xbf" + marked.replace("read", "load").encode("utf-8")


def test_fix_respects_settings(project, capsys):
    (project / "pyproject.toml").write_text('[tool.callground.severity]\nunknown-member = "off"\n', "utf-8")
    assert run("fix", "--write") == 0
    assert (project / "app.py").read_text("utf-8") == FILES["app.py"]
    capsys.readouterr()


def test_fix_of_a_path_that_is_not_there(project, capsys):
    assert run("fix", "nowhere.py") == 2
    assert "no such file" in capsys.readouterr().err


def test_a_write_that_fails_leaves_the_file(project, monkeypatch):
    path = project / "app.py"
    monkeypatch.setattr("callground_server.cli.fix.os.replace", _fails)
    with pytest.raises(OSError, match="no"):
        write(str(path), FIXED)
    assert path.read_text("utf-8") == FILES["app.py"]
    assert sorted(p.name for p in project.iterdir()) == ["app.py", "shop.py"]


def _fails(*_):
    raise OSError("no")


def test_related(project, capsys):
    assert run("related", "read_items") == 0
    assert "shop.py:6: function shop.load_items(path)" in capsys.readouterr().out
    assert run("related", "xyzzy_plugh") == 1


def test_locate(project, capsys):
    assert run("locate", "client") == 0
    assert "class shop.Client" in capsys.readouterr().out
    assert run("locate", "items", "load", "--limit", "1") == 0
    assert capsys.readouterr().out == "shop.py:6: function shop.load_items(path)\n"


def test_explain_shows_the_ranking_with_its_reasons(project, capsys):
    assert run("check", "--explain", "app.py:4") == 0
    out = capsys.readouterr().out
    assert "what may be meant:" in out
    assert "1. shop.load_items" in out
    assert "`load` is a verb for `read`" in out
    assert "the arguments bind" in out
