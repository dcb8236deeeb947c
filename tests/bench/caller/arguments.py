"""Whole calls by BFCL's own checker: the arguments with the right tool given, and tool and arguments together.

    pip download --no-deps bfcl-eval
    python tests/bench/caller/arguments.py bfcl_eval-*.whl
    python tests/bench/caller/arguments.py bfcl_eval-*.whl --select cosine+0.15 --model FOLDER

A call is right when the leaderboard's checker (`ast_checker`, run out of the wheel as it is) says so. ``--no-head``
leaves the span head out; ``--show N`` prints N calls that were wrong. BFCL is for evaluation only: who looks at single
failures to change something says which, and reports on others.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import tempfile
import time
import types
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from requests_of_bfcl import Request, load
from selection import Cosine, scorer_of

from callground.caller.arguments import fill
from callground.caller.encoder import MODEL_VARIABLE, Encoder

CATEGORIES = ("simple_python", "multiple", "live_simple", "live_multiple")
Checker = Callable[[dict[str, Any], dict[str, Any], dict[str, Any]], bool]


class _AnyModel(dict[str, Any]):
    """Stands for the leaderboard's list of models, of which the checker asks one thing only."""

    def __getitem__(self, key: str) -> Any:
        return types.SimpleNamespace(underscore_to_dot=False)


def checker(wheel: Path, folder: Path) -> Checker:
    """BFCL's checker out of its wheel. What it imports for other languages and for model clients is left empty."""
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    convertors = "bfcl_eval.eval_checker.ast_eval.type_convertor"
    empty: dict[str, dict[str, Any]] = {
        "bfcl_eval.constants.model_config": {"MODEL_CONFIG_MAPPING": _AnyModel()},
        f"{convertors}.java_type_converter": {"java_type_converter": None},
        f"{convertors}.js_type_converter": {"js_type_converter": None},
    }
    for name, content in empty.items():
        module = types.ModuleType(name)
        module.__dict__.update(content)
        sys.modules[name] = module
    sys.path.insert(0, str(folder))
    from bfcl_eval.constants.enums import Language
    from bfcl_eval.eval_checker.ast_eval.ast_checker import ast_checker

    def check(function: dict[str, Any], call: dict[str, Any], truth: dict[str, Any]) -> bool:
        try:
            found = ast_checker([function], [call], [truth], Language.PYTHON, "simple_python", "x")
        except (KeyError, TypeError, ValueError, AttributeError, IndexError):
            return False  # the checker itself fails on some values of a wrong type
        return bool(found["valid"])

    return check


def chosen(request: Request, select: Any) -> int:
    """Index of the tool that is called: the right one, or the one that a scorer puts first."""
    if select is None:
        return next(at for at, tool in enumerate(request.tools) if tool.name == request.gold)
    return int(np.argmax(select.scores(request.text, request.tools)))


def main() -> None:
    """Prints a line for each category."""
    parser = argparse.ArgumentParser(description="Whole calls, by BFCL's own checker.")
    parser.add_argument("wheel", type=Path)
    parser.add_argument("--model", type=Path, help="another model folder than the bundled one")
    parser.add_argument("--select", help="a scorer of selection.py chooses the tool; without it the right one is given")
    parser.add_argument("--no-head", action="store_true", help="without the span head")
    parser.add_argument("--category", action="append", choices=CATEGORIES)
    parser.add_argument("--show", type=int, default=0, metavar="N", help="print N wrong calls of each category")
    given = parser.parse_args()
    if given.model is not None:
        os.environ[MODEL_VARIABLE] = str(given.model)  # the ranker's folder too, also without the network
    encoder = Encoder(given.model)
    select = scorer_of(given.select, Cosine(encoder)) if given.select else None
    with tempfile.TemporaryDirectory() as folder:
        check = checker(given.wheel, Path(folder))
        for category in given.category or CATEGORIES:
            _category(given, category, encoder, select, check)


def _category(given: Any, category: str, encoder: Encoder, select: Any, check: Checker) -> None:
    tool_right, right, several, spent = 0, 0, 0, []
    wrong: list[str] = []
    requests = [request for request in load(given.wheel, category) if request.gold is not None]
    for request in requests:
        at = chosen(request, select)
        tool = request.tools[at]
        if tool.name != request.gold:
            continue
        tool_right += 1
        begun = time.thread_time()
        filled = fill(request.text, tool, None if given.no_head else encoder)
        spent.append(time.thread_time() - begun)
        several += filled.several_actions
        # The checker takes a name for the same only as the definition has it.
        call = {request.functions[at]["name"]: filled.values}
        if check(request.functions[at], call, {request.gold: request.answer}):
            right += 1
        else:
            wrong.append(f"  {request.id}: {request.text!r}\n    filled {filled.values}\n    wanted {request.answer}")
    count = len(requests)
    print(
        f"{category}: tool {tool_right / count:.3f}, whole call {right / count:.3f} of {count}; "
        f"several actions seen in {several}; CPU {1000 * float(np.median(spent)):.1f} ms at the median, "
        f"{1000 * max(spent):.0f} at most",
        flush=True,
    )
    for line in random.Random(0).sample(wrong, min(given.show, len(wrong))):
        print(line)


if __name__ == "__main__":
    main()
