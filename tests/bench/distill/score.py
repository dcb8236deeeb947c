"""The distilled caller on fixed data: made-up requests for eight tools, and CLINC150 (a file that you have).

    python tests/bench/distill/score.py run [--clinc data_full.json] [--seeds 0,1,2,3,4] [--json OUT]
    python tests/bench/distill/score.py promise [--splits 50]
    python tests/bench/distill/score.py run --impl package.module:ClassName

Another implementation is a class with ``fit(teacher, texts, tools, seed, **kw)``, ``try_local(text)``, ``save(dir)``
and ``load(dir, teacher)``.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import random
import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "support"))

from tool_requests import make_stress, make_synth, rule_teacher

CLINC_INTENTS = [
    "alarm",
    "balance",
    "book_flight",
    "calendar",
    "definition",
    "play_music",
    "reminder",
    "timer",
    "translate",
    "weather",
]


def make_clinc(path, with_oos=True, seed=3, near=600):
    """-> (train, test, tools, teacher). Ten intents as argument-free tools.

    test rows carry group: 'in', 'oos' (CLINC oos_test), 'near' (the other 140 intents).
    """
    d = json.loads(Path(path).read_text("utf-8"))
    keep = set(CLINC_INTENTS)

    def row(t, y, g):
        tool = y if y in keep else None
        return {"text": t, "tool": tool, "args": {}, "group": g, "unseen_phrasing": False}

    train = [row(t, y, "in") for t, y in d["train"] if y in keep]
    if with_oos:
        train += [row(t, "oos", "oos") for t, _ in d["oos_train"] + d["oos_val"]]
    random.Random(seed).shuffle(train)
    test = [row(t, y, "in") for t, y in d["test"] if y in keep]
    test += [row(t, "oos", "oos") for t, _ in d["oos_test"]]
    others = [row(t, y, "near") for t, y in d["test"] if y not in keep]
    random.Random(seed).shuffle(others)
    test += others[:near]
    tools = [{"name": n, "args": [], "required": []} for n in CLINC_INTENTS]
    table = {x["text"]: {"tool": x["tool"], "args": {}} for x in train + test}
    return train, test, tools, (lambda t: table[t])


def predict(impl, rows):
    out = []
    for x in rows[:20]:
        impl.try_local(x["text"])  # warm-up
    for x in rows:
        c0, t0 = time.process_time(), time.perf_counter()
        got = impl.try_local(x["text"])
        ms, cpu = (time.perf_counter() - t0) * 1e3, (time.process_time() - c0) * 1e3
        raw = getattr(impl, "raw_tool", lambda _t: NotImplemented)(x["text"])
        out.append({"got": got, "raw": raw, "ms": ms, "cpu_ms": cpu})
    return out


def evaluate(rows, preds):
    """Every rate is over the stated denominator; 'answered' = local non-escalated, incl. a local 'no tool'."""

    def rate(num, den):
        return None if not den else round(num / den, 4)

    pair = list(zip(rows, preds, strict=True))
    ins = [(x, p) for x, p in pair if x["tool"] is not None]
    oos = [(x, p) for x, p in pair if x["tool"] is None]
    ans = [(x, p) for x, p in pair if p["got"] is not None]
    ins_a = [(x, p) for x, p in ins if p["got"] is not None]
    right = [(x, p) for x, p in ins_a if p["got"]["tool"] == x["tool"]]
    exact = [(x, p) for x, p in right if p["got"]["args"] == x["args"]]
    emitted = [(x, p) for x, p in ans if p["got"]["tool"] is not None]

    def ok(x, p):
        return p["got"]["tool"] == x["tool"] and p["got"]["args"] == x["args"]

    fields = [
        (x["args"].get(k) == p["got"]["args"].get(k)) for x, p in right for k in set(x["args"]) | set(p["got"]["args"])
    ]
    ms = sorted(p["ms"] for p in preds)
    cpu = sorted(p["cpu_ms"] for p in preds)
    raw_in = [p["raw"] == x["tool"] for x, p in ins if p["raw"] is not NotImplemented]
    raw_all = [p["raw"] == x["tool"] for x, p in pair if p["raw"] is not NotImplemented]
    return {
        "n": len(rows),
        "n_in": len(ins),
        "n_oos": len(oos),
        "raw_selection_acc_in": rate(sum(raw_in), len(raw_in)),
        "raw_selection_acc_all": rate(sum(raw_all), len(raw_all)),
        "coverage_all": rate(len(ans), len(pair)),
        "coverage_in": rate(len(ins_a), len(ins)),
        "tool_error_among_answered_in": rate(len(ins_a) - len(right), len(ins_a)),
        "exact_call_among_answered_in": rate(len(exact), len(ins_a)),
        "exact_args_given_right_tool": rate(len(exact), len(right)),
        "arg_field_acc_given_right_tool": rate(sum(fields), len(fields)),
        "in_scope_exact_of_all": rate(len(exact), len(ins)),
        "error_among_answered_all": rate(sum(not ok(x, p) for x, p in ans), len(ans)),
        "error_among_emitted_calls": rate(sum(not ok(x, p) for x, p in emitted), len(emitted)),
        "oos_answered_locally": rate(sum(p["got"] is not None for _, p in oos), len(oos)),
        "oos_emitted_tool_call": rate(
            sum(p["got"] is not None and p["got"]["tool"] is not None for _, p in oos), len(oos)
        ),
        "ms_median": round(statistics.median(ms), 3),
        "ms_p95": round(ms[int(0.95 * (len(ms) - 1))], 3),
        "cpu_ms_median": round(statistics.median(cpu), 3),
        "cpu_ms_p95": round(cpu[int(0.95 * (len(cpu) - 1))], 3),
    }


def dir_bytes(path):
    return sum(os.path.getsize(os.path.join(b, f)) for b, _, fs in os.walk(path) for f in fs)


class Callground:
    """`distill_tool_caller` behind the common interface."""

    def fit(self, teacher, texts, tools, seed=0, **kw):
        from callground.caller.tool_caller import distill_tool_caller

        self.caller = distill_tool_caller(teacher, texts, tools, seed=seed, **kw)
        return self

    def try_local(self, text):
        return self.caller.try_local(text)

    def info(self):
        report = self.caller.report()
        return {"evidence": report["evidence"], "thresholds": report["thresholds"]}

    def save(self, path):
        self.caller.save(path)

    @classmethod
    def load(cls, path, teacher):
        from callground.caller.tool_caller import ToolCaller

        made = cls()
        made.caller = ToolCaller.load(path, teacher)
        return made


def one(cls, teacher, train, tests, tools, seed, kw):
    """Distil once, and score every test set."""
    wall, cpu = time.perf_counter(), time.process_time()
    impl = cls().fit(teacher, [x["text"] for x in train], tools, seed=seed, **kw)
    out = {
        "seed": seed,
        "fit_s": round(time.perf_counter() - wall, 1),
        "fit_cpu_s": round(time.process_time() - cpu, 1),
        "tests": {},
    }
    if hasattr(impl, "info"):
        out["info"] = impl.info()
    for name, rows in tests.items():
        out["tests"][name] = evaluate(rows, predict(impl, rows))
    with tempfile.TemporaryDirectory() as folder:
        place = os.path.join(folder, "m")
        impl.save(place)
        out["save_bytes"] = dir_bytes(place)
        wall, cpu = time.perf_counter(), time.process_time()
        back = cls.load(place, teacher)
        out["load_s"], out["load_cpu_s"] = round(time.perf_counter() - wall, 3), round(time.process_time() - cpu, 3)
        first = next(iter(tests.values()))[:100]
        out["reload_identical_100"] = all(back.try_local(x["text"]) == impl.try_local(x["text"]) for x in first)
    return out


SHOWN = (
    "error_among_emitted_calls",
    "in_scope_exact_of_all",
    "oos_emitted_tool_call",
    "exact_call_among_answered_in",
    "error_among_answered_all",
    "cpu_ms_median",
)


def run(options):
    """Every job and seed; a table, and JSON."""
    if options.impl == "callground":
        cls = Callground
    else:
        module, _, name = options.impl.partition(":")
        cls = getattr(importlib.import_module(module), name)
    train, test, tools = make_synth()
    jobs = {}
    if "synth" in options.only:
        half = {u: [x for x in test if x["unseen_phrasing"] == u] for u in (False, True)}
        sets = {"all": test, "seen_phrasing": half[False], "unseen_phrasing": half[True], **make_stress()}
        jobs["synth"] = (rule_teacher, train, sets, tools)
    if options.clinc and "clinc" in options.only:
        rows, held, names, teacher = make_clinc(options.clinc)
        sets = {g: [x for x in held if x["group"] == g] for g in ("in", "oos", "near")}
        jobs["clinc"] = (teacher, rows, sets, names)
    results = []
    for job, (teacher, rows, sets, names) in jobs.items():
        for seed in map(int, options.seeds.split(",")):
            result = {"job": job, **one(cls, teacher, rows, sets, names, seed, json.loads(options.kw))}
            results.append(result)
            print(job, *(f"{key} {result[key]}" for key in result if key not in ("job", "tests", "info")))
            for name, scores in result["tests"].items():
                print(f"  {name:28}", "  ".join(f"{key} {scores[key]}" for key in SHOWN), flush=True)
            if options.json:
                Path(options.json).write_text(json.dumps(results, indent=1, default=str), "utf-8")


def promise(options):
    """How often the error among emitted calls is at or under alpha, over random splits of all made-up requests."""
    from callground.caller.tool_caller import distill_tool_caller

    train, test, tools = make_synth()
    pool = train + test
    kept = 0
    for split in range(options.splits):
        order = random.Random(split).sample(pool, len(pool))
        caller = distill_tool_caller(
            rule_teacher,
            [x["text"] for x in order[:400]],
            tools,
            seed=split,
            extractor_kw={"field_steps": options.steps},
        )
        got = [(x, caller.try_local(x["text"])) for x in order[400:]]
        calls = [(x, g) for x, g in got if g is not None and g["tool"] is not None]
        wrong = sum(g["tool"] != x["tool"] or g["args"] != x["args"] for x, g in calls)
        held = wrong <= 0.1 * len(calls)
        kept += held
        print(
            f"split {split}: {wrong} of {len(calls)} wrong, {'held' if held else 'broken'}; {kept}/{split + 1}",
            flush=True,
        )


def main():
    parser = argparse.ArgumentParser()
    commands = parser.add_subparsers(dest="command", required=True)
    each = commands.add_parser("run")
    each.add_argument("--impl", default="callground")
    each.add_argument("--clinc")
    each.add_argument("--json")
    each.add_argument("--seeds", default="0")
    each.add_argument("--only", default="synth,clinc")
    each.add_argument("--kw", default="{}", help="JSON: keywords of fit")
    each.set_defaults(do=run)
    each = commands.add_parser("promise")
    each.add_argument("--splits", type=int, default=50)
    each.add_argument("--steps", type=int, default=30)
    each.set_defaults(do=promise)
    options = parser.parse_args()
    options.do(options)


if __name__ == "__main__":
    main()
