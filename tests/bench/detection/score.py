"""Scores what `run_peer.py` kept: recall by kind, alarms on clean code, and why callground was silent.

    score.py ROOT [--given DIR] [--tree mutated15] [--tools A,B] [--without PROJECT,...]
    score.py ROOT --misses TOOL [KIND]    the mutants that a tool did not find (callground: with reasons)
    score.py ROOT --alarms TOOL           its findings on clean code
    score.py ROOT --owners TOOL           findings on a mutant that name another owner than the planted one

A mutant is found when a finding of the right family (codes.json) stands on its lines that is absent on the
clean file. Where a tool says which class or module it asked (callground does), the finding counts only when
that is the owner on which the mutant was planted; for arguments, only when it names the planted callee.
"""

from __future__ import annotations

import functools
import io
import json
import re
import signal
import tokenize
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from corpus import Corpus, parser

Finding = list[Any]  # file, line, code, message, detail
Mutant = dict[str, Any]

ARITY = ("k8", "k9", "k10", "k13", "k14")
ALIASES = {"posixpath": "os.path", "ntpath": "os.path", "pathlib.PosixPath": "pathlib.Path"}
FAMILIES = ("import", "name", "attribute", "call")
GENERATED = ("_unicode_data", "_emoji_codes.py")
NO_CODE = (
    tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER,
)  # fmt: skip


class Codes:
    """Which codes of a tool belong to the job."""

    def __init__(self, codes: dict[str, Any]) -> None:
        self.codes = codes
        self.none_receiver = re.compile(codes["none_receiver"])

    def is_none_receiver(self, finding: Finding) -> bool:
        """The receiver may be None: another job."""
        return bool(self.none_receiver.search(finding[3]))

    def of_the_job(self, tool: str, finding: Finding) -> bool:
        if self.is_none_receiver(finding):
            return False
        return any(
            finding[2] == code if isinstance(code, str) else finding[2] == code[0] and re.search(code[1], finding[3])
            for code in self.codes[tool]
        )


def family(code: str, message: str) -> str:
    """The kind of a finding, whatever the tool calls it."""
    code = code.lower()
    names = ("name-defined", "undefined", "unresolved-reference", "unknown-name")
    if any(n in code for n in names) or code in ("e0602", "f821", "f822", "unresolved-global"):
        return "name"
    imports = ("import", "source", "submodule")
    if any(n in code for n in imports) or code in ("e0401", "ghost-module"):
        return "import"
    if "unknown import symbol" in message:
        return "import"
    if "attr" in code or "member" in code or code in ("e1101", "e0611", "ghost-api", "hallucinated"):
        return "attribute"
    return "call"


# -- the owner of a planted fault --------------------------------------------------------------------


def module_of(file: str) -> str:
    return file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def planted(mutant: Mutant) -> tuple[str, str]:
    """The owner on which a mutant was planted and the last name of its callee; empty where unknown."""
    truth: str = mutant["truth"]
    if mutant["kind"] in ARITY:
        head = re.match(r"[\w.]+", truth)
        return "", head[0].rpartition(".")[2] if head else ""
    for pattern in (
        r"(?:module |class )?(?P<owner>[\w.]+) (?:has|and its subclasses have) no (?P<name>\w+)$",
        r"no (?P<owner>object of the environment) has (?P<name>\w+)$",
        r"no (?P<owner>name) (?P<name>\w+) anywhere in the repo$",
        r"no module (?P<owner>(?P<name>[\w.]+))$",
        r"AttributeError: (?:module|type object) '(?P<owner>[\w.]+)' has no attribute '(?P<name>\w+)'",
        r"AttributeError: '(?P<owner>[\w.]+)' object has no attribute '(?P<name>\w+)'",
        r"ImportError: cannot import name '(?P<name>\w+)' from '(?P<owner>[\w.]+)'",
        r"ModuleNotFoundError: No module named '(?P<owner>(?P<name>[\w.]+))'",
    ):
        match = re.match(pattern, truth)
        if match:
            owner = match["owner"]
            if owner == "name":
                owner = module_of(mutant["file"])
            elif " " in owner:
                owner = ""
            return owner, match["name"].rpartition(".")[2]
    return "", ""


def normal(owner: str) -> str:
    owner = owner.removeprefix("builtins.").removeprefix("_")
    return ALIASES.get(owner, owner)


def same_owner(said: str, owner: str) -> bool:
    """The same class or module, also when it is named by another module of the same package."""
    said, owner = normal(said), normal(owner)
    if said == owner:
        return True
    ends = (said.split(".")[0], said.rpartition(".")[2]), (owner.split(".")[0], owner.rpartition(".")[2])
    return ends[0] == ends[1] or ("." not in owner and said.rpartition(".")[2] == owner and owner[:1].isupper())


def names_owner(mutant: Mutant, finding: Finding) -> bool:
    """Does the finding name what the mutant was planted on? A tool that says no owner is believed."""
    detail: dict[str, Any] = finding[4] if len(finding) > 4 else {}
    if not detail:
        return True
    owner, name = planted(mutant)
    if mutant["kind"] in ARITY:
        return not name or str(detail.get("callee") or name).rpartition(".")[2] == name
    said = str(detail.get("owner") or "")
    if mutant["truth"].startswith(("no module ", "ModuleNotFoundError")):
        return not said or said == owner or owner.startswith(said + ".")
    return not owner or same_owner(said, owner)


# -- results -----------------------------------------------------------------------------------------


@dataclass
class Result:
    """One tool over the whole corpus."""

    hits: dict[str, list[Finding]] = field(default_factory=dict)  # by mutant; empty: not found
    other_owner: list[tuple[Mutant, Finding]] = field(default_factory=list)
    alarms: list[tuple[str, Finding]] = field(default_factory=list)
    not_run: list[str] = field(default_factory=list)
    none_receivers: int = 0
    seconds: float = 0.0
    cpu: float = 0.0

    def recall(self, mutants: list[Mutant]) -> tuple[int, int]:
        asked = [m["id"] for m in mutants if m["id"] in self.hits]
        return sum(bool(self.hits[i]) for i in asked), len(asked)

    def without_alarming_codes(self) -> int:
        """The mutants found by codes that never fire on clean code."""
        noisy = {finding[2] for _, finding in self.alarms}
        return sum(any(f[2] not in noisy for f in found) for found in self.hits.values())


class Scorer:
    def __init__(self, corpus: Corpus, kind: str, without: list[str]) -> None:
        self.corpus = corpus
        self.kind = kind
        self.codes = Codes(corpus.read("codes.json"))
        self.where = corpus.where(kind)
        self.projects = [p for p in corpus.projects if p not in without]
        self.mutants = [
            m
            for m in corpus.mutants(kind)
            if not m.get("suppressed")
            and m["project"] not in without
            and (m["id"] in self.where or m["project"] == "snippets")
        ]
        self.kinds = sorted({m["kind"] for m in self.mutants}, key=lambda k: int(k[1:]))
        self.by_kind = {k: [m for m in self.mutants if m["kind"] == k] for k in self.kinds}
        self.by_project: dict[str, list[Mutant]] = defaultdict(list)
        for mutant in self.mutants:
            self.by_project[mutant["project"]].append(mutant)

    @functools.cached_property
    def kloc(self) -> float:
        return sum(code_lines(self.corpus.root / "clean" / p) for p in self.projects) / 1000

    def tools(self) -> list[str]:
        folder = self.corpus.root / "out" / self.kind
        return sorted(d.name for d in folder.iterdir()) if folder.is_dir() else []

    def load(self, tool: str, kind: str, project: str) -> dict[str, Any] | None:
        path = self.corpus.root / "out" / kind / tool / f"{project}.json"
        if not path.exists():
            return None
        answer: dict[str, Any] = json.loads(path.read_text(encoding="utf8"))
        return answer

    def lines(self, mutant: Mutant) -> tuple[int, int, list[int]]:
        """The first and the last line in the mutated file, and lines of an added import."""
        if mutant["project"] == "snippets":
            return mutant["line"], mutant["end_line"], []
        first, last, *added = self.where[mutant["id"]]
        return first, last, added

    def score(self, tool: str) -> Result:
        result = Result()
        for project, mutants in self.by_project.items():
            answer, clean = self.load(tool, self.kind, project), self.load(tool, "clean", project)
            if answer is None or answer["error"] or (clean is None and project != "snippets"):
                result.not_run.append(project)
                continue
            findings = self.by_file(tool, answer)
            before = self.by_file(tool, clean or {"findings": []})
            for mutant in mutants:
                self.judge(result, mutant, findings[mutant["file"]], before[mutant["file"]])
        for project in self.projects:
            clean = self.load(tool, "clean", project)
            if clean is not None:
                result.seconds += clean["seconds"]
                result.cpu += clean["cpu"]
                result.alarms += [(project, f) for f in clean["findings"] if self.codes.of_the_job(tool, f)]
                result.none_receivers += sum(self.codes.is_none_receiver(f) for f in clean["findings"])
        return result

    def by_file(self, tool: str, answer: dict[str, Any]) -> dict[str, list[Finding]]:
        files: dict[str, list[Finding]] = defaultdict(list)
        for finding in answer["findings"]:
            if self.codes.of_the_job(tool, finding):
                files[finding[0].removeprefix("./")].append(finding)
        return files

    def judge(self, result: Result, mutant: Mutant, found: list[Finding], before: list[Finding]) -> None:
        first, last, added = self.lines(mutant)
        here = [f for f in found if first <= f[1] <= last or f[1] in added]
        if mutant["original"]:  # not a new line: what stood there before is no find
            old = Counter((f[2], f[3]) for f in before if mutant["line"] <= f[1] <= mutant["end_line"])
            new: list[Finding] = []
            for finding in here:
                key = (finding[2], finding[3])
                if old[key]:
                    old[key] -= 1
                else:
                    new.append(finding)
            here = new
        hits = [f for f in here if names_owner(mutant, f)]
        result.hits[mutant["id"]] = hits
        if here and not hits:
            result.other_owner += [(mutant, f) for f in here]

    # -- why callground was silent -----------------------------------------------------------------

    def verdicts(self, tool: str) -> dict[str, list[dict[str, Any]]]:
        """What was decided on each call, by project and file (`project/file`)."""
        sites: dict[str, list[dict[str, Any]]] = defaultdict(list)
        for project in self.by_project:
            path = self.corpus.root / "out" / self.kind / tool / f"{project}.verdicts.json"
            if path.exists():
                for site in json.loads(path.read_text(encoding="utf8")).get("verdicts") or []:
                    sites[f"{project}/{site['file']}"].append(site)
        return sites

    def reason(self, mutant: Mutant, sites: dict[str, list[dict[str, Any]]], result: Result) -> tuple[str, str]:
        """Why a mutant was missed: the reason of the abstention on its own call, and more about it."""
        if any(m["id"] == mutant["id"] for m, _ in result.other_owner):
            return "(another owner named)", ""
        first, last, added = self.lines(mutant)
        here = [
            s
            for s in sites[f"{mutant['project']}/{mutant['file']}"]
            if any(s["line"] <= line <= s["end_line"] for line in (*range(first, last + 1), *added))
        ]
        _, name = planted(mutant)
        own = [s for s in here if str(s.get("callee") or "").rpartition(".")[2] == name]
        silent = [s for s in own or here if s["status"] == "abstained"]
        if silent:
            return str(silent[0]["reason"]), str(silent[0].get("detail") or "")
        if own:
            return f"({own[0]['status']})", ""
        return "(other calls on its lines)" if here else "(no call site there)", ""


def code_lines(tree: Path) -> int:
    """Lines that hold code, without generated tables."""
    total = 0
    for file in tree.rglob("*.py"):
        if any(part in str(file) for part in GENERATED):
            continue
        lines: set[int] = set()
        text = io.StringIO(file.read_text(encoding="utf8", errors="replace"))
        try:
            for token in tokenize.generate_tokens(text.readline):
                if token.type not in NO_CODE:
                    lines.update(range(token.start[0], token.end[0] + 1))
        except (tokenize.TokenError, SyntaxError):
            pass
        total += len(lines)
    return total


# -- printing ----------------------------------------------------------------------------------------


def percent(part: int, whole: int, digits: int = 1) -> str:
    return f"{100 * part / whole:.{digits}f}%" if whole else "-"


def print_table(scorer: Scorer, results: dict[str, Result]) -> None:
    mutants, kinds = scorer.mutants, scorer.kinds
    print(f"{len(mutants)} mutants, {scorer.kloc:.1f} thousand lines of code\n")
    heads = [(f"{k}({len(scorer.by_kind[k])})", 8) for k in kinds]
    heads += [
        ("overall", 8),
        ("alarms", 7),
        ("/KLOC", 6),
        ("import", 7),
        ("name", 5),
        ("attr", 6),
        ("call", 5),
    ]
    heads += [("0-alarm", 8), ("wall", 7), ("cpu", 7)]
    print("tool".ljust(16), *(head.rjust(width) for head, width in heads))

    def overall(item: tuple[str, Result]) -> float:
        found, asked = item[1].recall(mutants)
        return -found / max(1, asked)

    for tool, result in sorted(results.items(), key=overall):
        families = Counter(family(f[2], f[3]) for _, f in result.alarms)
        cells = [percent(*result.recall(scorer.by_kind[k]), 0) for k in kinds]
        cells += [percent(*result.recall(mutants)), str(len(result.alarms))]
        cells += [
            f"{len(result.alarms) / max(scorer.kloc, 0.001):.2f}",
            *(str(families[f]) for f in FAMILIES),
        ]
        cells += [percent(result.without_alarming_codes(), len(result.hits))]
        cells += [f"{result.seconds:.0f}s", f"{result.cpu:.0f}s"]
        notes = ["not run: " + ",".join(result.not_run)] if result.not_run else []
        others = {m["id"] for m, _ in result.other_owner}
        notes += [f"{len(others)} found on another owner"] if others else []
        print(tool.ljust(16), *(c.rjust(w) for c, (_, w) in zip(cells, heads, strict=True)), "; ".join(notes))
    complete = [r for r in results.values() if not r.not_run]
    if len(complete) > 1:
        union = {m["id"] for m in mutants if any(r.hits.get(m["id"]) for r in complete)}
        cells = [percent(sum(m["id"] in union for m in g), len(g), 0) for g in scorer.by_kind.values()]
        cells.append(percent(len(union), len(mutants)))
        print("union of all".ljust(16), *(c.rjust(8) for c in cells))


def print_reasons(scorer: Scorer, tool: str, result: Result) -> None:
    """A table of the reasons of the misses, by kind."""
    sites = scorer.verdicts(tool)
    if not sites:
        return
    table: dict[str, Counter[str]] = defaultdict(Counter)
    for mutant in scorer.mutants:
        if not result.hits.get(mutant["id"], True):
            table[scorer.reason(mutant, sites, result)[0]][mutant["kind"]] += 1
    if not table:
        return
    width = max(len(r) for r in table)
    print(f"\n{tool}: why the missed mutants were missed\n")
    print("reason".ljust(width), *(k.rjust(4) for k in scorer.kinds), "  all")
    for reason, counts in sorted(table.items(), key=lambda item: -item[1].total()):
        cells = (str(counts[k] or ".").rjust(4) for k in scorer.kinds)
        print(reason.ljust(width), *cells, str(counts.total()).rjust(5))
    sums = [sum(c[k] for c in table.values()) for k in scorer.kinds]
    print("all misses".ljust(width), *(str(s).rjust(4) for s in sums), str(sum(sums)).rjust(5))


def print_misses(scorer: Scorer, tool: str, result: Result, kind: str | None) -> None:
    sites = scorer.verdicts(tool)
    for mutant in scorer.mutants:
        if not result.hits.get(mutant["id"], True) and kind in (None, mutant["kind"]):
            first = scorer.lines(mutant)[0]
            reason = [": ".join(filter(None, scorer.reason(mutant, sites, result)))] if sites else []
            place = f"{mutant['file']}:{first}"
            text = mutant["mutated"].strip()[:120]
            print(
                mutant["id"],
                mutant["kind"],
                mutant["sub"],
                place,
                *reason,
                mutant["truth"][:90],
                text,
                sep=" | ",
            )


def summary(scorer: Scorer, result: Result) -> dict[str, Any]:
    return {
        "recall": {k: result.recall(scorer.by_kind[k]) for k in scorer.kinds},
        "overall": result.recall(scorer.mutants),
        "alarms": len(result.alarms),
        "families": Counter(family(f[2], f[3]) for _, f in result.alarms),
        "per_kloc": round(len(result.alarms) / max(scorer.kloc, 0.001), 2),
        "zero_alarm_codes": [result.without_alarming_codes(), len(result.hits)],
        "none_receivers": result.none_receivers,
        "other_owner": sorted({m["id"] for m, _ in result.other_owner}),
        "seconds": round(result.seconds, 1),
        "cpu": round(result.cpu, 1),
        "not_run": result.not_run,
    }


def main() -> None:
    options_of = parser(__doc__)
    options_of.add_argument("--tree", default="mutated", help="mutated or mutated15")
    options_of.add_argument("--tools", help="these tools only")
    options_of.add_argument("--without", default="", help="projects to leave out")
    options_of.add_argument("--misses", nargs="+", metavar=("TOOL", "KIND"))
    options_of.add_argument("--alarms", metavar="TOOL")
    options_of.add_argument("--owners", metavar="TOOL")
    options_of.add_argument("--json", type=Path, help="write the numbers there too")
    options = options_of.parse_args()
    if hasattr(signal, "SIGPIPE"):  # `score.py ... | head` ends quietly
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    scorer = Scorer(Corpus(options), options.tree, options.without.split(","))
    one = options.alarms or options.owners or (options.misses and options.misses[0])
    tools = [one] if one else options.tools.split(",") if options.tools else scorer.tools()
    results = {tool: scorer.score(tool) for tool in tools}
    if options.misses:
        print_misses(scorer, one, results[one], options.misses[1] if len(options.misses) > 1 else None)
    elif options.alarms:
        for project, finding in results[one].alarms:
            print(project, *finding[:4], *([finding[4]] if len(finding) > 4 and finding[4] else []), sep="\t")
    elif options.owners:
        for mutant, finding in results[one].other_owner:
            print(mutant["id"], mutant["kind"], mutant["truth"], *finding[1:], sep="\t")
    else:
        print_table(scorer, results)
        for tool, result in results.items():
            print_reasons(scorer, tool, result)
    if options.json:
        numbers = {tool: summary(scorer, result) for tool, result in results.items()}
        options.json.write_text(json.dumps(numbers, indent=1), encoding="utf8")


if __name__ == "__main__":
    main()
