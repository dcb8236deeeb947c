"""Names that models really got wrong: is a name that the reference solution uses among the first three?

Used by `../repairs.py`; nothing here is run by itself.
"""

from __future__ import annotations

import json
import re
import subprocess
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from callground.repairs import distance, habits
from callground.repairs.asked import Asked
from callground.repairs.candidates import of as candidates_of
from callground.repairs.service import Repairs
from callground.repairs.words import plain
from callground.resolve import expressions
from callground.resolve.values import ModuleObject
from callground.session import Session
from callground.verdict.findings import Proof
from callground.verdict.sites import Site

DATA = Path(__file__).resolve().parents[2] / "data" / "real_faults.dev.jsonl"
_WORD = re.compile(r"[A-Za-z_]\w*")


@dataclass
class Tally:
    known: int = 0
    installed: int = 0
    asked: int = 0
    proved: int = 0
    strict: int = 0
    hit: int = 0
    base: int = 0
    reachable: int = 0


def measure(pythons: list[str], misses: bool) -> None:
    facts = [json.loads(line) for line in DATA.read_text("utf-8").splitlines()]
    full = {f["receiver"].rpartition(".")[2]: f["receiver"] for f in facts if f["receiver"] and "." in f["receiver"]}
    tally = Tally()
    homes = [(python, *_installed(python)) for python in pythons]
    chosen: dict[str, list[dict[str, Any]]] = {}
    for fact in facts:
        if not fact["right_names"]:
            continue
        tally.known += 1
        home = next((p for p, version, dists in homes if _fits(fact, version, dists)), None)
        if home is None:
            if misses:
                print(f"  {fact['id']} no environment: {fact['python']} {fact['dists']}")
            continue
        tally.installed += 1
        chosen.setdefault(home, []).append(fact)
    for python, group in chosen.items():
        with tempfile.TemporaryDirectory() as root:
            texts = {fact["id"]: text_of(fact, full) for fact in group}
            for fact in group:
                (Path(root) / f"{fact['id'].replace('-', '_')}.py").write_text(texts[fact["id"]])
            with Session.open(root, python=python) as session:
                session.index()
                for fact in group:
                    path = str(Path(root) / f"{fact['id'].replace('-', '_')}.py")
                    _one(session, path, texts[fact["id"]], fact, tally, misses)
    print(
        f"right names known {tally.known}, with an environment here {tally.installed}, looked at {tally.asked}, "
        f"of these proved wrong by the judgement {tally.proved}"
    )
    for label, count in (
        ("among the first three", tally.hit),
        ("its last name, strictly", tally.strict),
        ("edit distance alone, last name", tally.base),
        ("a right name is any candidate at all", tally.reachable),
    ):
        print(f"{label:40} {count:3}  {100 * count / max(tally.installed, 1):.1f} % of {tally.installed}")


def _one(session: Session, path: str, text: str, fact: dict[str, Any], tally: Tally, misses: bool) -> None:
    verdicts = session.verify(path)
    repairs = session.repairs(path, text, verdicts)
    wrong = fact["name"]
    verdict = next((v for v in verdicts if v.finding is not None and wrong in v.finding.name), None)
    asked = repairs.asked(verdict) if verdict is not None else None
    tally.proved += asked is not None
    if asked is None:
        asked = _supposed(repairs, wrong)
    if asked is None:
        if misses:
            print(f"  {fact['id']} {fact['kind']} {fact['path'] or fact['receiver']}.{wrong}: cannot be asked about")
        return
    tally.asked += 1
    right = {name.rstrip("=") for name in fact["right_names"]}
    from callground.repairs.service import _ranked

    ranked = _ranked(asked)
    written = habits.written(asked)
    shown = [(set(_WORD.findall(text)), "") for text in written]
    for each in ranked:
        c = each.candidate
        words = {c.name, *_WORD.findall(c.text.removeprefix(_prefix(asked)))}
        if c.wanted is not None:
            words |= set(_WORD.findall(c.wanted.module)) | {c.wanted.name}
        shown.append((words, c.name))
    hit = any(words & right for words, _ in shown[:3])
    tally.hit += hit
    tally.strict += any(name in right for _, name in shown[:3])
    pool = candidates_of(asked)
    names = sorted({c.name for c in pool}, key=lambda n: (-distance.similarity(plain(wrong), plain(n)), n))[:3]
    tally.base += any(name in right for name in names)
    tally.reachable += any(c.name in right for c in pool) or any(words & right for words, _ in shown)
    if misses and not hit:
        best = [(r.candidate.text, r.score) for r in ranked[:3]]
        print(
            f"  {fact['id']} {fact['kind']} {fact['path'] or fact['receiver']}: {wrong} -> {best}; right {sorted(right)[:8]}"
        )


def _prefix(asked: Asked) -> str:
    node = asked.proof.node
    import ast

    return f"{asked.text(node.value)}." if isinstance(node, ast.Attribute) else ""


def _supposed(repairs: Repairs, wrong: str) -> Asked | None:
    """The question as if absence were proved: for classes that are open."""
    import ast

    source = repairs.source
    for site in source.sites:
        node = site.node
        if site.role == "from" and isinstance(node, ast.ImportFrom) and site.alias is not None:
            if site.alias.name == wrong and node.module:
                return Asked(
                    source,
                    site,
                    Proof("unknown-import", wrong, node.module, "module", node, owner_object=ModuleObject(node.module)),
                )
        if site.role != "call" or not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        owner = _owner(source, site, node.func.value) if node.func.attr == wrong else None
        if owner is not None:
            return Asked(source, site, Proof("unknown-member", wrong, "", "", node.func, owner_object=owner))
    return None


def _owner(source: Any, site: Site, node: Any) -> Any:
    from callground.verdict.verify import scope_of

    def question() -> Any:
        scope = scope_of(site, source.evaluator)
        return expressions.value(source.evaluator, node, scope) if scope is not None else None

    values = source.ask(question)
    return values.items[0] if values is not None and values.items else None


def text_of(fact: dict[str, Any], full: dict[str, str]) -> str:
    """A program with the fault.  Whether an attribute was called is not told: most were."""
    name, path = fact["name"], fact["path"] or ""
    kind = fact["kind"]
    if kind == "instance_attr":
        receiver = fact["receiver"]
        receiver = full.get(receiver, receiver) if "." not in receiver else receiver
        module, _, cls = receiver.rpartition(".")
        head = f"from {module} import {cls}\n" if module and module != "builtins" else ""
        return f"{head}\n\ndef f(x: {cls}, *args, **kwargs):\n    return x.{name}(*args, **kwargs)\n"
    module, _, last = path.rpartition(".")
    if kind == "import_name":
        return f"from {module} import {last}\n\nprint({last})\n"
    if kind == "module_attr":
        return f"import {module}\n\n\ndef f(*args, **kwargs):\n    return {path}(*args, **kwargs)\n"
    if kind == "kwarg":
        return f"import {module}\n\n\ndef f(*args, **kwargs):\n    return {path}(*args, {name}=1, **kwargs)\n"
    return f"import {module}\n\n\ndef f(*args, **kwargs):\n    return {path}(*args, **kwargs)\n"


def _installed(python: str) -> tuple[str, dict[str, str]]:
    """(version, distribution -> version) of an interpreter."""
    code = (
        "import json, sys\n"
        "try:\n import importlib.metadata as m\nexcept ImportError:\n import importlib_metadata as m\n"
        "print(json.dumps(['%d.%d' % sys.version_info[:2], "
        "{(d.metadata['Name'] or '').lower(): d.version for d in m.distributions()}]))"
    )
    if "/python3.7" in python or "py37" in python:
        code = (
            "import json, sys, pkg_resources as p\n"
            "print(json.dumps(['%d.%d' % sys.version_info[:2], {d.project_name.lower(): d.version for d in p.working_set}]))"
        )
    done = subprocess.run([python, "-c", code], capture_output=True, text=True, check=True)
    version, dists = json.loads(done.stdout)
    return version, dists


def _fits(fact: dict[str, Any], version: str, dists: dict[str, str]) -> bool:
    return fact["python"] == version and all(dists.get(n.lower()) == v for n, v in fact["dists"].items())


__all__ = ["Counter", "measure"]
