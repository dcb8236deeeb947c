"""Certain repairs, one after the other, until nothing certain is left."""

from __future__ import annotations

import sys

from callground.repairs import Repairs, ground_report_and_repair
from callground.repairs.verified import verify
from callground.session import Session
from mending import dedented, mender
from projects import write_files

SHOP = """
    class Client:
        def fetch(self, path, retries=2):
            return [path]
    """
WRONG = """
    import json

    from shop import Client


    def main(client: Client, names: list[str]):
        names.push(json.stringify({}))
        first = client.fetch_page("x"), client.fetch("y", max_retries=3)
        for name in names.reversed():
            print(name.toUpperCase().trim())
        if names.length() > 2:
            return qqq_zzz(first)
        return None
    """


def opened(root):
    return Session.open(str(root), python=sys.executable)


def test_a_block_is_repaired(tmp_path):
    write_files(tmp_path, {"shop.py": SHOP, "a.py": WRONG.lstrip("\n")})
    with opened(tmp_path) as session:
        session.index()
        result = ground_report_and_repair(dedented(WRONG), "a.py", session.workspace)
        assert "names.append(json.dumps({}))" in result.text
        assert 'first = client.fetch("x"), client.fetch("y", retries=3)' in result.text
        assert "if len(names) > 2" in result.text
        assert not result.is_grounded
        assert "qqq_zzz" in {finding.name for finding in result.left}
        assert {c.repair.kind for c in result.changes} >= {"habit", "replace-callee", "rename-keyword"}
        assert all(c.repair.certain and c.repair.verified for c in result.changes)
        # Once more changes nothing: it ends.
        again = ground_report_and_repair(result.text, "a.py", session.workspace)
        assert (again.text, again.changes) == (result.text, ())


def test_only_the_asked_lines_are_repaired(tmp_path):
    text = "import json\n\nprint(json.stringify(1))\nprint(json.stringify(2))\n"
    write_files(tmp_path, {"a.py": text})
    with opened(tmp_path) as session:
        session.index()
        result = ground_report_and_repair(text, "a.py", session.workspace, [(4, 4)])
        assert result.text == "import json\n\nprint(json.stringify(1))\nprint(json.dumps(2))\n"
        assert result.is_grounded


def test_what_is_silenced_is_left_alone(tmp_path):
    text = "import json\n\nprint(json.stringify(1))  # callground: ignore\n"
    write_files(tmp_path, {"a.py": text})
    with opened(tmp_path) as session:
        session.index()
        result = ground_report_and_repair(text, "a.py", session.workspace)
        assert (result.text, result.changes, result.left) == (text, (), ())


def test_nothing_is_written_and_nothing_is_remembered(tmp_path):
    text = "import json\n\nprint(json.stringify(1))\n"
    write_files(tmp_path, {"a.py": text})
    with opened(tmp_path) as session:
        session.index()
        ground_report_and_repair(text, "a.py", session.workspace)
        assert (tmp_path / "a.py").read_text("utf-8") == text
        assert [v.finding.name for v in session.verify(str(tmp_path / "a.py")) if v.finding] == ["stringify"]


def test_a_text_that_does_not_parse_ends_well(tmp_path):
    text = "import json\n\nprint(json.stringify(1))\ndef f(:\n"
    write_files(tmp_path, {"a.py": text})
    with opened(tmp_path) as session:
        session.index()
        result = ground_report_and_repair(text, "a.py", session.workspace)
        assert result.text.endswith("def f(:\n")


def test_a_repair_that_makes_another_thing_wrong_is_not_offered(tmp_path):
    """``Box.get`` binds, but what it gives has no ``first``: the fault would only move."""
    text = """
        class Item:
            def last(self):
                return 1


        class Box:
            def get_item(self) -> Item:
                return Item()


        def f(box: Box):
            item = box.get_itm()
            return item.first()
        """
    with mender(tmp_path, {"a.py": text}) as mend:
        assert not [r for r in mend.offered() if r.kind == "replace-callee"]


def test_a_repair_that_holds_nowhere_is_refused(tmp_path):
    text = "import json\n\nprint(json.stringify(1))\n"
    with mender(tmp_path, {"a.py": text}) as mend:
        (repair, *_) = mend.offered()
        worse = type(repair)(
            "replace-callee",
            "to another wrong name",
            (repair.changes[0]._replace(edits=(repair.changes[0].edits[0]._replace(text="json.qqq(1)"),)),),
        )
        outcome = verify(
            worse,
            mend.path,
            mend.only,
            mend.verdicts,
            mend.session.workspace.snapshot(),
            mend.repairs.text,
            mend.session.workspace.memo,
        )
        assert not outcome.holds


def test_verified_with_and_without_the_workspaces_memory(tmp_path):
    write_files(tmp_path, {"shop.py": SHOP, "a.py": WRONG.lstrip("\n")})
    path = str(tmp_path / "a.py")
    with opened(tmp_path) as session:
        session.index()
        text = session.text(path)
        verdicts = session.verify(path)
        snapshot = session.workspace.snapshot()
        remembering = Repairs(path, text, verdicts, snapshot, session.workspace.memo)
        afresh = Repairs(path, text, verdicts, snapshot)
        for verdict in verdicts:
            if verdict.finding is not None:
                assert [(r.title, r.verified, r.certain) for r in remembering.offered(verdict)] == [
                    (r.title, r.verified, r.certain) for r in afresh.offered(verdict)
                ]
