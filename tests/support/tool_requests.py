"""Requests for eight tools of an editor, made from templates: for the benchmark and the tests of distillation.

Half of the test requests are phrased as no training request is.  The stress sets hold shapes that code requests have:
underscores, a value that stands twice, two actions in one request.
"""

from __future__ import annotations

import random
import re

TOOLS = [
    {"name": "rename_symbol", "args": ["old_name", "new_name"], "required": ["old_name", "new_name"]},
    {"name": "find_references", "args": ["symbol"], "required": ["symbol"]},
    {"name": "go_to_definition", "args": ["symbol"], "required": ["symbol"]},
    {"name": "run_tests", "args": ["path", "marker"], "required": ["path"]},
    {"name": "add_import", "args": ["module"], "required": ["module"]},
    {
        "name": "extract_function",
        "args": ["start_line", "end_line", "name"],
        "required": ["start_line", "end_line", "name"],
    },
    {"name": "set_breakpoint", "args": ["path", "line"], "required": ["path", "line"]},
    {"name": "search_text", "args": ["query"], "required": ["query"]},
]

# (template, held_out): held_out phrasings are used in the test split only
TEMPLATES = {
    "rename_symbol": [
        ("rename {old_name} to {new_name}", 0),
        ("please rename the function {old_name} to {new_name}", 0),
        ("can you rename variable {old_name} as {new_name} everywhere", 0),
        ("change the name of {old_name} to {new_name}", 0),
        ("I want {old_name} to be called {new_name} instead", 0),
        ("refactor: {old_name} should become {new_name}", 0),
        ("give {old_name} the new name {new_name}", 1),
        ("{old_name} is a bad name, call it {new_name}", 1),
    ],
    "find_references": [
        ("find all references to {symbol}", 0),
        ("where is {symbol} used", 0),
        ("show me every usage of {symbol}", 0),
        ("list the callers of {symbol}", 0),
        ("who calls {symbol} in this project", 0),
        ("find usages of the symbol {symbol}", 0),
        ("which places use {symbol}?", 1),
        ("show references for {symbol} please", 1),
    ],
    "go_to_definition": [
        ("go to the definition of {symbol}", 0),
        ("where is {symbol} defined", 0),
        ("jump to {symbol}", 0),
        ("open the definition of {symbol} please", 0),
        ("take me to where {symbol} is declared", 0),
        ("show the source of {symbol}", 0),
        ("navigate to {symbol}'s declaration", 1),
        ("I'd like to see how {symbol} is implemented", 1),
    ],
    "run_tests": [
        ("run the tests in {path}", 0),
        ("execute {path} with pytest", 0),
        ("please run tests from {path} marked {marker}", 0),
        ("run pytest on {path}", 0),
        ("test {path} now with marker {marker}", 0),
        ("run only the {marker} tests of {path}", 0),
        ("kick off the test suite at {path}", 1),
        ("check whether {path} still passes", 1),
    ],
    "add_import": [
        ("add an import for {module}", 0),
        ("import {module} at the top", 0),
        ("please add import {module} to this file", 0),
        ("insert the missing import of {module}", 0),
        ("I need {module} imported here", 0),
        ("bring {module} into scope", 0),
        ("this file needs {module}, add the import", 1),
        ("auto import {module}", 1),
    ],
    "extract_function": [
        ("extract lines {start_line} to {end_line} into a function named {name}", 0),
        ("extract function {name} from lines {start_line} through {end_line}", 0),
        ("move lines {start_line}-{end_line} into a new method {name}", 0),
        ("turn the code between line {start_line} and line {end_line} into {name}", 0),
        ("pull out lines {start_line} to {end_line} as {name}", 0),
        ("make a helper {name} out of lines {start_line} until {end_line}", 0),
        ("refactor lines {start_line} to {end_line} to a separate function called {name}", 1),
        ("new function {name} with the body of lines {start_line} to {end_line}", 1),
    ],
    "set_breakpoint": [
        ("set a breakpoint in {path} at line {line}", 0),
        ("add breakpoint on line {line} of {path}", 0),
        ("break at {path} line {line}", 0),
        ("please stop the debugger at line {line} in {path}", 0),
        ("put a breakpoint at line {line} in file {path}", 0),
        ("debug: pause at {path} line {line}", 0),
        ("I want execution to halt on line {line} of {path}", 1),
        ("breakpoint {path} line {line}", 1),
    ],
    "search_text": [
        ("search the project for {query}", 0),
        ("grep for {query}", 0),
        ("look for the text {query} in all files", 0),
        ("find the string {query} in the code base", 0),
        ("search for occurrences of the phrase {query}", 0),
        ("full text search: {query}", 0),
        ("does the text {query} appear anywhere", 1),
        ("scan all files for {query}", 1),
    ],
}

# out-of-scope: (template, held_out); slots keep them lexically near the in-scope requests
OOS_TEMPLATES = [
    ("explain what {symbol} does", 0),
    ("write a docstring for {symbol}", 0),
    ("why is {symbol} so slow", 0),
    ("thanks, that worked", 0),
    ("what does this error mean", 0),
    ("commit my changes with message {query}", 0),
    ("push the branch to origin", 0),
    ("install {module} with pip", 0),
    ("how do I use {module}", 0),
    ("what time is it", 0),
    ("is {module} faster than {module2}", 0),
    ("delete the file {path}", 0),
    ("write a test for {symbol}", 0),
    ("format {path} with black", 0),
    ("good morning", 0),
    ("add type hints to {symbol}", 0),
    ("what changed in {path} yesterday", 0),
    ("review my pull request", 0),
    ("convert {symbol} to async", 0),
    ("undo the last edit", 0),
    ("who wrote line {line} of {path}", 1),
    ("translate the comments of {path} to German", 1),
    ("generate a changelog", 1),
    ("book me a flight to Oslo", 1),
    ("tell me a joke about {module}", 1),
    ("open a terminal", 1),
    ("benchmark {symbol} against the old version", 1),
    ("remove the unused import {module}", 1),
    ("summarise {path} for me", 1),
    ("create a virtualenv", 1),
]

_V = [
    "load",
    "parse",
    "build",
    "fetch",
    "merge",
    "encode",
    "render",
    "update",
    "write",
    "scan",
    "train",
    "resolve",
    "validate",
    "dump",
    "reset",
    "split",
    "close",
    "emit",
    "rank",
    "trace",
]
_N = [
    "config",
    "user",
    "token",
    "graph",
    "batch",
    "index",
    "cache",
    "report",
    "schema",
    "event",
    "buffer",
    "route",
    "query",
    "model",
    "header",
    "record",
    "task",
    "invoice",
    "cursor",
    "frame",
]
_MODS = [
    "numpy",
    "pandas",
    "os.path",
    "typing",
    "collections",
    "asyncio",
    "pathlib",
    "json",
    "dataclasses",
    "itertools",
    "sqlalchemy.orm",
    "urllib.parse",
    "functools",
    "logging",
    "re",
    "decimal",
    "httpx",
    "concurrent.futures",
    "datetime",
    "subprocess",
    "xml.etree",
    "torch.nn",
    "yaml",
    "click",
    "attrs",
]
_DIRS = ["src", "tests", "app", "lib", "core", "api", "pkg", "tests/unit", "src/utils", "app/views"]
_MARK = ["slow", "network", "smoke", "integration", "db", "gpu", "nightly", "unit"]
_PHR = [
    "TODO fix me",
    "connection refused",
    "max retries",
    "deprecated since",
    "utf-8",
    "SELECT name FROM users",
    "feature flag",
    "hello world",
    "invalid token",
    "retry after 30",
    "api key",
    "magic number",
    "user not found",
    "lock timeout",
    "copyright 2024",
    "cache miss",
    "noqa",
    "type ignore",
    "raise ValueError",
    "out of memory",
    "rate limit",
    "debug mode",
    "access denied",
    "stack trace",
]


def _ident(r):
    v, n = r.choice(_V), r.choice(_N)
    k = r.random()
    if k < 0.55:
        return f"{v}_{n}"
    if k < 0.75:
        return v.capitalize() + n.capitalize()
    if k < 0.9:
        return v + n.capitalize()
    return f"{n}{r.randint(2, 99)}"


def _path(r, test=False):
    d = "tests" if test and r.random() < 0.6 else r.choice(_DIRS)
    stem = r.choice(_N) if r.random() < 0.5 else f"{r.choice(_V)}_{r.choice(_N)}"
    return f"{d}/{'test_' if test else ''}{stem}.py"


def _fill(tool, r):
    if tool == "rename_symbol":
        a = _ident(r)
        b = _ident(r)
        while b in a or a in b:
            b = _ident(r)
        return {"old_name": a, "new_name": b}
    if tool in ("find_references", "go_to_definition"):
        return {"symbol": _ident(r)}
    if tool == "run_tests":
        return {"path": _path(r, True), "marker": r.choice(_MARK)}
    if tool == "add_import":
        return {"module": r.choice(_MODS)}
    if tool == "extract_function":
        s = r.randint(2, 480)
        return {"start_line": str(s), "end_line": str(s + r.randint(2, 40)), "name": _ident(r)}
    if tool == "set_breakpoint":
        return {"path": _path(r), "line": str(r.randint(1, 900))}
    if tool == "search_text":
        return {"query": r.choice(_PHR) if r.random() < 0.6 else f"{r.choice(_V)} {r.choice(_N)}"}
    raise KeyError(tool)


_SLOT = re.compile(r"\{(\w+)\}")


def _style(template, text, r):
    k = r.random()
    if k < 0.15:
        return text if template.startswith("{") else text[0].upper() + text[1:]
    if k < 0.25:
        return "hey, " + text
    if k < 0.35 and not text.endswith("?"):
        return text + " thanks"
    return text


def _oos_row(r, pool):
    t, held = r.choice(pool)
    v = {
        "symbol": _ident(r),
        "query": r.choice(_PHR),
        "module": r.choice(_MODS),
        "module2": r.choice(_MODS),
        "path": _path(r),
        "line": str(r.randint(1, 900)),
    }
    return {
        "text": _style(t, _SLOT.sub(lambda m: v[m.group(1)], t), r),
        "tool": None,
        "args": {},
        "unseen_phrasing": bool(held),
    }


def _in_row(r, tool, pool):
    t, held = r.choice(pool)
    v = _fill(tool, r)
    args = {k: v[k] for k in v if "{" + k + "}" in t}
    return {
        "text": _style(t, _SLOT.sub(lambda m: v[m.group(1)], t), r),
        "tool": tool,
        "args": args,
        "unseen_phrasing": bool(held),
    }


def make_synth(seed=20240, n_in=300, n_oos=100):
    """-> (train_rows, test_rows, tools). 300+100 train; 300+100 test, half of the test phrasings unseen."""
    r = random.Random(seed)
    names = [t["name"] for t in TOOLS]
    seen, train, test = set(), [], []

    def take(rows, n, make):
        got = tries = 0
        while got < n and tries < 200 * n:
            tries += 1
            row = make()
            if row["text"].lower() in seen and not (row["tool"] is None and tries > 20 * n):
                continue
            seen.add(row["text"].lower())
            rows.append(row)
            got += 1

    take(train, n_in, lambda: (lambda t: _in_row(r, t, [x for x in TEMPLATES[t] if not x[1]]))(r.choice(names)))
    take(train, n_oos, lambda: _oos_row(r, [x for x in OOS_TEMPLATES if not x[1]]))
    for held in (0, 1):
        take(
            test,
            n_in // 2,
            lambda held=held: (lambda t: _in_row(r, t, [x for x in TEMPLATES[t] if x[1] == held]))(r.choice(names)),
        )
        # slot-free OOS phrasings could repeat train text: only slotted ones in the seen half
        pool = [x for x in OOS_TEMPLATES if x[1] == held and (held or "{" in x[0])]
        take(test, n_oos // 2, lambda pool=pool: _oos_row(r, pool))
    r.shuffle(train)
    r.shuffle(test)
    return train, test, TOOLS


def make_stress(seed=7):
    """Small named stress sets over the synth tools: identifiers and shapes common in Python code."""
    r = random.Random(seed)
    out = {}

    def rows(fn, n=40):
        return [fn() for _ in range(n)]

    def und(kind):
        base = f"{r.choice(_V)}_{r.choice(_N)}"
        s = {"lead": "_" + base, "dunder": f"__{r.choice(_V)}__", "trail": base + "_"}[kind]
        t = r.choice(["find all references to {}", "list the callers of {}", "find usages of the symbol {}"])
        return {"text": t.format(s), "tool": "find_references", "args": {"symbol": s}, "unseen_phrasing": False}

    out["leading_underscore"] = rows(lambda: und("lead"))
    out["dunder"] = rows(lambda: und("dunder"))
    out["trailing_underscore"] = rows(lambda: und("trail"))

    def dup():
        s = _ident(r)
        return {
            "text": f"find all references to {s} because I want to delete {s}",
            "tool": "find_references",
            "args": {"symbol": s},
            "unseen_phrasing": False,
        }

    out["value_twice_in_text"] = rows(dup)

    def long():
        s = _ident(r)
        filler = " ".join(r.choice(_V) + " the " + r.choice(_N) for _ in range(50))
        return {
            "text": f"find all references to {s}. context: {filler}",
            "tool": "find_references",
            "args": {"symbol": s},
            "unseen_phrasing": False,
        }

    out["long_request_150_tokens"] = rows(long)

    def missing():
        t = r.choice(["rename {a}", "set a breakpoint in {p}", "extract lines {n} to the end into a function"])
        return {
            "text": t.format(a=_ident(r), p=_path(r), n=r.randint(1, 90)),
            "tool": None,
            "args": {},
            "unseen_phrasing": False,
        }

    out["missing_required_argument"] = rows(missing)

    def garbage():
        return {
            "text": "".join(r.choice("qxzjkvwpbgf ") for _ in range(30)),
            "tool": None,
            "args": {},
            "unseen_phrasing": True,
        }

    out["random_characters"] = rows(garbage)

    def two():
        s, p = _ident(r), _path(r, True)
        return {
            "text": f"find all references to {s} and then run the tests in {p}",
            "tool": None,
            "args": {},
            "unseen_phrasing": True,
        }

    out["two_actions_in_one_request"] = rows(two)
    return out


def _regexes():
    for tool, pool in TEMPLATES.items():
        for t, _ in pool:
            pat = re.escape(t)
            for slot in set(_SLOT.findall(t)):
                body = (
                    r"\d+"
                    if slot in ("line", "start_line", "end_line")
                    else (r".+?" if slot == "query" else r"[\w./]+?")
                )
                pat = pat.replace(re.escape("{" + slot + "}"), f"(?P<{slot}>{body})")
            yield tool, re.compile(r"^(?:hey, )?" + pat + r"(?: thanks)?$", re.IGNORECASE)


_RX = None


def rule_teacher(text):
    """Rule teacher for the synthetic world: exact inverse of the grammar, None for anything else."""
    global _RX
    if _RX is None:
        _RX = list(_regexes())
    for tool, rx in _RX:
        m = rx.match(text)
        if m:
            return {"tool": tool, "args": dict(m.groupdict())}
    return {"tool": None, "args": {}}
