"""Small projects with one fault each, repaired by the library as an editor or the command line repairs them."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from callground.repairs import Repair, Repairs
from callground.repairs.verified import patched
from callground.session import Session
from callground.verdict.model import Verdict
from projects import write_files


class Mender:
    """The findings of one file of a small project, and what can be done about them."""

    def __init__(self, session: Session, path: Path) -> None:
        self.session = session
        self.path = str(path)
        self.text = session.text(self.path)
        self.verdicts = session.verify(self.path)
        self.repairs: Repairs = session.repairs(self.path, self.text, self.verdicts)

    @property
    def wrong(self) -> list[Verdict]:
        return [v for v in self.verdicts if v.finding is not None]

    @property
    def only(self) -> Verdict:
        assert len(self.wrong) == 1, [v.finding.message for v in self.wrong if v.finding]
        return self.wrong[0]

    def ranked(self) -> list[str]:
        return [r.candidate.text for r in self.repairs.ranked(self.only)]

    def offered(self) -> list[Repair]:
        return self.repairs.offered(self.only)

    def preferred(self) -> Repair:
        certain = [r for r in self.offered() if r.certain]
        assert len(certain) == 1, [(r.kind, r.title, r.certain, r.verified) for r in self.offered()]
        assert certain[0] is self.offered()[0] or certain[0].title == self.offered()[0].title
        return certain[0]

    def of_kind(self, kind: str) -> Repair:
        found = [r for r in self.offered() if r.kind == kind]
        assert found, [(r.kind, r.title) for r in self.offered()]
        return found[0]

    def after(self, repair: Repair, path: str | None = None) -> str:
        """The text that a repair makes; what it leaves must be less than what was wrong."""
        made = patched(repair.changes, self.repairs.text)
        assert made is not None
        own = made[self.path]
        left = [v.finding for v in self.session.workspace.verify(self.path, own) if v.finding is not None]
        if len(made) == 1:
            assert len(left) < len(self.wrong), [f.message for f in left if f]
        return made[path or self.path]


@contextmanager
def mender(root: Path, files: Mapping[str, str], name: str = "a.py", *, raw: bool = False) -> Iterator[Mender]:
    """The project laid and opened; `raw` texts are written as they are."""
    if raw:
        for file, text in files.items():
            (root / file).parent.mkdir(parents=True, exist_ok=True)
            (root / file).write_bytes(text.encode("utf-8"))
    else:
        write_files(root, {file: text.lstrip("\n") for file, text in files.items()})
    with Session.open(str(root), python=sys.executable) as session:
        session.index()
        yield Mender(session, root / name)


def dedented(text: str) -> str:
    return textwrap.dedent(text.lstrip("\n"))
