"""Places into rows of features: what the ranking and the gate of the code side are fitted and measured on.

What a place calls is settled by callground itself on the file as it was: only where the evaluator knows the called
function is a place one of the workspace's own, and only where it knows that something else is called is it one of
the others.  All that is not known is left out.

    python -m callground.caller.training.code_rows OUT_FOLDER NAME=SOURCE_TREE ...
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import random
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from callground.caller import code_features
from callground.caller.code_context import Shape, Situation, shape_of, situation
from callground.caller.code_suggestions import CodeCaller, function_text
from callground.caller.code_tools import CodeTool, ToolTable
from callground.caller.training.code_places import Place, is_imperative, mine, verbs
from callground.graph.snapshot import Snapshot
from callground.repairs.asked import Source
from callground.resolve import expressions
from callground.resolve.evaluator import MAX_STEPS
from callground.resolve.memo import Memo
from callground.resolve.values import BoundMethod, ClassObject, FunctionObject, Obj
from callground.session import Session
from callground.verdict.verify import scope_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

SETTLE_STEPS = 4_000
"""Steps of the evaluator that it may cost to know what a place calls."""
SHAPE_SHOWN = 0.25
"""Share of places that show how the statement begins: editors see both kinds."""


class Example(NamedTuple):
    """One place with the tools that were looked at there."""

    project: str
    path: str
    """Relative to the tree."""
    line: int
    """1-based line of the call in the file as it was."""
    request: str
    around: str
    """What the encoder reads of the function around it."""
    tools: tuple[str, ...]
    """What the encoder reads of each tool."""
    names: tuple[str, ...]
    """Dotted name of each tool."""
    rows: Floats
    called: int
    """Place in `tools`; -1 where something else was called."""
    found: bool
    """Whether the called tool was among the candidates by itself."""


def settle(place: Place, source: Source, table: ToolTable) -> int | None:
    """The tool that is called at a place (-1: something else, None: nobody knows), on the file as it was."""
    for site in source.sites:
        if site.role != "call" or not isinstance(site.node, ast.Call):
            continue
        if site.range.line != place.original_line and place.original_line > site.range.line:
            continue
        if site.range.line > place.original_line + 1:
            break
        if ast.unparse(site.node.func)[:200] != place.callee:
            continue
        func = site.node.func

        def question(site=site, func=func):  # type: ignore[no-untyped-def]
            source.evaluator.steps = MAX_STEPS - SETTLE_STEPS
            scope = scope_of(site, source.evaluator)
            return expressions.value(source.evaluator, func, scope) if scope is not None else None

        known = source.ask(question)
        if known is None or not known.items:
            return None
        found = {_tool_of(each, table) for each in known.items}
        return found.pop() if len(found) == 1 else None
    return None


def _plainly(place: Place, table: ToolTable) -> int | None:
    """The tool that is called by a bare name or on ``self``, where the text alone leaves no doubt; else None."""
    target = place.target
    on_self = place.callee.count(".") == 1 and place.callee.startswith("self.")
    if target is None or ("." in place.callee and not on_self):
        return None
    if "." in place.callee and target.path != place.path:
        return None
    found = [index for index in table.by_name.get(target.name, ()) if table.tools[index].qualname == target.qualname]
    mine = [index for index in found if table.tools[index].path.endswith("/" + target.path)]
    return mine[0] if len(mine) == 1 and ("." not in place.callee or len(found) == 1) else None


def _tool_of(callee: Obj, table: ToolTable) -> int | None:
    if isinstance(callee, BoundMethod):
        return _tool_of(callee.function, table)
    if not isinstance(callee, (FunctionObject, ClassObject)):
        return None
    module, qualname = callee.ref
    for index in table.by_name.get(qualname.rpartition(".")[2], ()):
        tool = table.tools[index]
        if tool.qualname == qualname and (tool.module or tool.path) == module:
            return index
    return -1


def examples(
    project: str,
    root: str,
    caller: CodeCaller | None,
    wanted: Callable[[str], bool],
    *,
    most: int = 150,
    most_others: int = 75,
    limit: int = 150,
    shapes: float = SHAPE_SHOWN,
    per_file: int | None = None,
) -> Iterator[Example]:
    """The examples of one source tree.  Without a `caller` the encoder has no say in which tools are looked at."""
    with Session.open(root) as session:
        session.index()
        yield from examples_in(
            session,
            project,
            root,
            caller,
            wanted,
            most=most,
            most_others=most_others,
            limit=limit,
            shapes=shapes,
            per_file=per_file,
        )


def examples_in(
    session: Session,
    project: str,
    root: str,
    caller: CodeCaller | None,
    wanted: Callable[[str], bool],
    *,
    most: int = 150,
    most_others: int = 75,
    limit: int = 150,
    shapes: float = SHAPE_SHOWN,
    per_file: int | None = None,
) -> Iterator[Example]:
    """The same in a session that is open and has its index."""
    random_ = random.Random(zlib.crc32(project.encode()))
    tree = mine(root, others=True, wanted=wanted, per_file=per_file)
    places = _once(tree.places, random_)
    snapshot = session.workspace.snapshot()
    memo = Memo(tracking=False)
    tools = (caller or CodeCaller()).tools
    table = tools.table(snapshot)
    if table is None or not table.tools:
        return
    if caller is not None:
        caller.prepare(snapshot)
    sources: dict[str, Source] = {}
    own = others = 0
    for place in places:
        if own >= most and others >= most_others:
            return
        path = os.path.join(root, place.path)
        called = _plainly(place, table)
        if called is None:
            source = sources.get(path)
            if source is None:
                source = sources[path] = Source(path, session.text(path), snapshot, memo)
            called = settle(place, source, table)
        if called is None or (called >= 0 and own >= most) or (called < 0 and others >= most_others):
            continue
        shape = _shape(place) if random_.random() < shapes else Shape()
        example = _example(project, root, place, called, shape, snapshot, table, caller, memo, limit)
        if example is None:
            continue
        own, others = own + (called >= 0), others + (called < 0)
        yield example


def _once(places: Iterable[Place], random_: random.Random) -> list[Place]:
    """In random order, each request once."""
    seen: set[str] = set()
    listed = list(places)
    random_.shuffle(listed)
    result: list[Place] = []
    for place in listed:
        if place.request.lower() not in seen:
            seen.add(place.request.lower())
            result.append(place)
    return result


def _shape(place: Place) -> Shape:
    """How the statement begins, as somebody would have typed it before the call."""
    try:
        node = ast.parse(place.statement.strip()).body[0]
    except (SyntaxError, ValueError, IndexError):
        return Shape()
    value = getattr(node, "value", None)
    awaited = "await " if isinstance(value, ast.Await) else ""
    written = awaited
    if isinstance(node, ast.Assign) and len(node.targets) == 1:
        if isinstance(node.targets[0], (ast.Name, ast.Attribute)):
            written = f"{ast.unparse(node.targets[0])} = {awaited}"
    elif isinstance(node, ast.Return):
        written = f"return {awaited}"
    return shape_of(written) or Shape()


def look(
    snapshot: Snapshot, path: str, place: Place, shape: Shape, memo: Memo | None
) -> tuple[Snapshot, Situation] | None:
    """What is known of a place in the file without the call."""
    before = snapshot.with_overlay({path: place.text})
    found = situation(
        before,
        path,
        place.text,
        place.line,
        place.request,
        shape,
        memo=memo,
        request_lines=_comment(place),
    )
    return (before, found) if found is not None else None


def _comment(place: Place) -> tuple[int, int]:
    lines = place.text.split("\n")
    first = place.line
    while first > 1 and lines[first - 2].strip().startswith("#"):
        first -= 1
    return first, place.line - 1


def _example(
    project: str,
    root: str,
    place: Place,
    called: int,
    shape: Shape,
    snapshot: Snapshot,
    table: ToolTable,
    caller: CodeCaller | None,
    memo: Memo,
    limit: int,
) -> Example | None:
    path = os.path.join(root, place.path)
    seen = look(snapshot, path, place, shape, memo)
    if seen is None:
        return None
    before, around = seen
    heard = code_features.hear(around, before, table)
    cosines = None
    if caller is not None:
        cosines = caller.cosines(table, caller.vector(place.request))
    chosen = code_features.candidates(heard, table, limit, cosines)
    found = called < 0 or called in chosen
    if not found:
        chosen.append(called)
    tools = [table.tools[index] for index in chosen]
    if not tools:
        return None
    zeros = [0.0] * len(tools)
    return Example(
        project,
        place.path,
        place.original_line,
        place.request,
        function_text(around),
        tuple(tool.text for tool in tools),
        tuple(_dotted(tool, root) for tool in tools),
        code_features.rows(heard, table, tools, zeros, zeros),
        chosen.index(called) if called >= 0 else -1,
        found,
    )


def _dotted(tool: CodeTool, root: str) -> str:
    return f"{os.path.relpath(tool.path, root)}:{tool.qualname}"


# -- files


def write(path: Path, made: Sequence[Example]) -> None:
    """Write examples to an ``.npz`` file."""
    import numpy as np

    told = [[e.project, e.path, e.line, e.request, e.around, e.tools, e.names, e.called, e.found] for e in made]
    with open(path, "wb") as file:
        np.savez_compressed(
            file,
            rows=np.concatenate([e.rows for e in made]).astype(np.float16),
            lengths=np.array([len(e.tools) for e in made]),
            told=np.frombuffer(json.dumps(told).encode(), dtype=np.uint8),
        )


def read(path: Path) -> list[Example]:
    """Read what `write` has written."""
    import numpy as np

    with np.load(path) as data:
        rows, lengths = data["rows"].astype(np.float32), data["lengths"]
        told = json.loads(data["told"].tobytes())
    found: list[Example] = []
    start = 0
    for length, (project, file, line, request, around, tools, names, called, known) in zip(lengths, told, strict=True):
        part = rows[start : start + length]
        start += int(length)
        found.append(Example(project, file, line, request, around, tuple(tools), tuple(names), part, called, known))
    return found


def main() -> None:
    """Mine source trees and write their rows, one file a project."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("out", type=Path)
    parser.add_argument("trees", nargs="+", metavar="NAME=FOLDER")
    parser.add_argument("--verbs", type=Path, help="a file with the verbs that requests begin with, one a line")
    parser.add_argument("--model", type=Path, help="a model folder: its encoder helps to choose the tools looked at")
    parser.add_argument("--most", type=int, default=150, help="places of a project that call its own functions")
    parser.add_argument("--others", type=int, default=75, help="places that call something else")
    parser.add_argument("--limit", type=int, default=150, help="tools that are looked at for a place")
    parser.add_argument("--per-file", type=int, help="places of one file, at most")
    given = parser.parse_args()
    trees = dict(tree.split("=", 1) for tree in given.trees)
    known = frozenset(given.verbs.read_text("utf-8").split()) if given.verbs else _verbs_of(trees.values())
    given.out.mkdir(parents=True, exist_ok=True)
    for name, root in trees.items():
        caller = None
        if given.model is not None:
            from callground.caller.encoder import Encoder

            caller = CodeCaller(Encoder(given.model))
        made = list(
            examples(
                name,
                os.path.abspath(root),
                caller,
                lambda request: is_imperative(request, known),
                most=given.most,
                most_others=given.others,
                limit=given.limit,
                per_file=given.per_file,
            )
        )
        if made:
            write(given.out / f"{name}.npz", made)
        own = [each for each in made if each.called >= 0]
        missed = sum(not each.found for each in own)
        print(
            f"{name}: {len(own)} places, {len(made) - len(own)} others, {missed} not among the candidates", flush=True
        )


def _verbs_of(roots: Iterable[str]) -> frozenset[str]:
    return verbs(target for root in roots for target in mine(os.path.abspath(root), wanted=lambda _: False).targets)


if __name__ == "__main__":
    main()
