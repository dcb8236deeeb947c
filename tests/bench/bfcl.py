"""The gate against the Berkeley Function Calling Leaderboard: its own answers must pass, planted faults must not.

The data lies in the wheel of `bfcl-eval` (Apache-2.0), which is read and not installed:

    pip download --no-deps bfcl-eval
    python tests/bench/bfcl.py bfcl_eval-*.whl
"""

from __future__ import annotations

import argparse
import copy
import json
import random
import sys
import time
import zipfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from callground.toolcalls import ToolSpec, ground_plan, read_calls, read_specs

CATEGORIES = (
    "simple_python",
    "multiple",
    "parallel",
    "parallel_multiple",
    "live_simple",
    "live_multiple",
    "live_parallel",
    "live_parallel_multiple",
)
KINDS = ("wrong name", "unknown argument", "missing required", "wrong type", "enum")
CODES = {
    "wrong name": "unknown-tool",
    "unknown argument": "unknown-keyword",
    "missing required": "missing-argument",
    "wrong type": "wrong-type",
    "enum": "not-in-enum",
}


class Item(NamedTuple):
    """One question: the tools that it comes with, and the plans that answer it."""

    id: str
    functions: list[dict[str, Any]]
    tools: dict[str, ToolSpec]
    plans: list[list[dict[str, Any]]]


def main() -> int:
    """Print both tables; 1 when the gate rejects a right call or misses more than 1 % of the faults."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("wheel", help="the wheel of bfcl-eval, or a folder with its data")
    parser.add_argument("--only", help="categories, separated by commas")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--limit", type=int, help="questions of each category")
    options = parser.parse_args()
    names = options.only.split(",") if options.only else CATEGORIES
    random.seed(options.seed)
    at_fault: dict[str, str] = json.loads((Path(__file__).parent / "bfcl_at_fault.json").read_text("utf-8"))
    alarms: list[str] = []
    known: dict[str, str] = {}
    accepted, contradicted, plans, calls = Counter[str](), Counter[str](), Counter[str](), 0
    found, planted = Counter[str](), Counter[str]()
    named = Counter[str]()
    began = time.process_time()
    for name in names:
        for item in list(items(options.wheel, name))[: options.limit]:
            for plan in item.plans:
                plans[name] += 1
                calls += len(plan)
                faults = check(item, plan)
                accepted[name] += not faults
                if faults and item.id in at_fault:
                    known[item.id] = at_fault[item.id]
                    contradicted[name] += 1
                else:
                    alarms += [f"{item.id}: {fault}" for fault in faults]
            for kind, plan in plants(item) if not check(item, item.plans[0]) else ():
                planted[kind] += 1
                codes = [code for code, _ in judged(item, plan)]
                found[kind] += bool(codes)
                named[kind] += CODES[kind] in codes
    took = time.process_time() - began
    print(f"{'category':24} {'right plans':>11} {'accepted':>9} {'spec and answer at odds':>24} {'alarms':>7}")
    for name in names:
        odds = contradicted[name]
        print(f"{name:24} {plans[name]:11} {accepted[name]:9} {odds:24} {plans[name] - accepted[name] - odds:7}")
    print(f"\n{'planted':24} {'faults':>11} {'found':>9} {'under its own code':>19}")
    for kind in KINDS:
        share = f"{found[kind] / planted[kind]:.1%}" if planted[kind] else "-"
        print(f"{kind:24} {planted[kind]:11} {found[kind]:9} {named[kind]:19}   {share}")
    total = sum(planted.values())
    print(f"{'all':24} {total:11} {sum(found.values()):9} {sum(named.values()):19}")
    print(f"\n{calls + total} calls in {took:.1f} s of CPU")
    if known:
        print(f"\n{len(known)} questions whose answer contradicts their own spec (bfcl_at_fault.json):")
        for why, number in Counter(known.values()).most_common():
            print(f"  {number:3}  {why}")
    if alarms:
        print("\nright calls that were rejected:")
        print("\n".join(dict.fromkeys(alarms)))
    return 1 if alarms or sum(found.values()) < 0.99 * total else 0


# -- the data


def items(wheel: str, category: str) -> Iterator[Item]:
    """The questions of a category."""
    questions = {row["id"]: row for row in rows(wheel, f"BFCL_v4_{category}.json")}
    for row in rows(wheel, f"possible_answer/BFCL_v4_{category}.json"):
        functions = questions[row["id"]]["function"]
        specs = read_specs(functions, category)
        required = {name: spec.required for name, spec in specs.tools.items()}
        yield Item(row["id"], functions, dict(specs.tools), list(answers(row["ground_truth"], required)))


def rows(wheel: str, name: str) -> list[dict[str, Any]]:
    """The JSON lines of a data file."""
    if Path(wheel).is_dir():
        text = (Path(wheel) / name).read_text("utf-8")
    else:
        with zipfile.ZipFile(wheel) as archive:
            (path,) = (each for each in archive.namelist() if each.endswith(f"/data/{name}"))
            text = archive.read(path).decode("utf-8")
    return [json.loads(line) for line in text.splitlines() if line.strip()]


def answers(truth: list[dict[str, Any]], required: dict[str, tuple[str, ...]]) -> Iterator[list[dict[str, Any]]]:
    """Plans that the answer allows: the first value of everything, then each other value once."""
    first = [call(name, given, required) for each in truth for name, given in each.items()]
    yield first
    for index, each in enumerate(truth):
        for name, given in each.items():
            for parameter, values in given.items():
                for value in values[1:]:
                    if value == "":
                        if parameter in required.get(name, ()):
                            continue  # "" stands for leaving it out, which BFCL's own checker rejects too
                        changed = {key: kept for key, kept in given.items() if key != parameter}
                    else:
                        changed = {**given, parameter: [value]}
                    other = list(first)
                    other[index] = call(name, changed, required)
                    if other[index] != first[index]:
                        yield other


def call(name: str, given: dict[str, list[Any]], required: dict[str, tuple[str, ...]]) -> dict[str, Any]:
    """A call out of the values that are allowed for each argument ("" stands for leaving it out)."""
    arguments = {}
    for parameter, values in given.items():
        must = parameter in required.get(name, ())
        chosen = next((value for value in values if value != "" or must), None)
        if chosen is not None or (None in values and must):
            arguments[parameter] = plain(chosen)
    return {"name": name, "arguments": arguments}


def plain(value: Any) -> Any:
    """An allowed value in which objects again have lists of allowed values."""
    if isinstance(value, dict):
        members = {}
        for key, values in value.items():
            options = values if isinstance(values, list) else [values]
            chosen = next((each for each in options if each != ""), None)
            if chosen is not None:
                members[key] = plain(chosen)
        return members
    if isinstance(value, list):
        return [plain(each) for each in value]
    return value


# -- judging


def judged(item: Item, plan: list[dict[str, Any]]) -> list[tuple[str, str]]:
    """(code, message) of every fault of a plan."""
    outcomes = ground_plan(read_calls(plan), item.tools)
    return [(fault.code, fault.message) for outcome in outcomes for fault in outcome.faults]


def check(item: Item, plan: list[dict[str, Any]]) -> list[str]:
    """The faults of a plan, for people."""
    return [f"{code}: {message}" for code, message in judged(item, plan)]


# -- planting


def plants(item: Item) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """The first plan of a question with one fault of each kind that it can have."""
    right = item.plans[0]
    index = random.randrange(len(right))
    spec = item.tools[right[index]["name"]]

    def changed(change: Any) -> list[dict[str, Any]]:
        plan = copy.deepcopy(right)
        change(plan[index])
        return plan

    yield "wrong name", changed(lambda each: each.update(name=misspelt(each["name"], item.tools)))
    if spec.closed:
        unknown = invented(spec)
        yield "unknown argument", changed(lambda each: each["arguments"].update({unknown: 1}))
    given = [name for name in spec.required if name in right[index]["arguments"]]
    if given:
        name = random.choice(given)
        yield "missing required", changed(lambda each: each["arguments"].pop(name))
    typed = [
        (name, value)
        for name in right[index]["arguments"]
        if (value := of_another_type(spec.properties.get(name, {}))) is not NOTHING
    ]
    if typed:
        name, value = random.choice(typed)
        yield "wrong type", changed(lambda each: each["arguments"].update({name: value}))
    listed = [name for name in right[index]["arguments"] if "enum" in spec.properties.get(name, {})]
    if listed:
        name = random.choice(listed)
        yield "enum", changed(lambda each: each["arguments"].update({name: "no such choice"}))


def misspelt(name: str, tools: dict[str, ToolSpec]) -> str:
    """A name that no tool has, near to the right one."""
    for wrong in (name + "s", name[:-1], "get_" + name, name.upper()):
        if wrong not in tools and wrong:
            return wrong
    return name + "_x"


def invented(spec: ToolSpec) -> str:
    """An argument that the tool does not have."""
    names = [*spec.properties, "options"]
    return next(f"{name}{end}" for name in names for end in ("_id", "s", "_x") if f"{name}{end}" not in names)


NOTHING = object()


def of_another_type(schema: dict[str, Any]) -> Any:
    """A value whose type the schema rules out."""
    kind = schema.get("type")
    wrong = {
        "string": 17,
        "integer": "seventeen",
        "number": "seventeen",
        "boolean": "perhaps",
        "array": 17,
        "object": "seventeen",
    }
    return wrong.get(kind, NOTHING) if isinstance(kind, str) else NOTHING


if __name__ == "__main__":
    sys.exit(main())
