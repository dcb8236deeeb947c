"""``callground rule`` and ``callground schema``: print documentation that comes with the package."""

from __future__ import annotations

import difflib
import sys
from importlib import resources

from callground.rules import RULES
from callground.rules.tool_codes import TOOL_CODES


def print_rules(code: str | None, *, every: bool) -> int:
    """Print one rule's page, or all of them, or the list of rules."""
    if every:
        sys.stdout.write("\n".join(rule.page() for rule in RULES.values()))
        return 0
    if code is None:
        longest = max(map(len, RULES))
        for rule in RULES.values():
            print(f"{rule.code:{longest}}  {rule.severity:7}  {rule.summary}")
        return 0
    if code in TOOL_CODES:
        print(f"# {code}\n\nIn calls of tools: {TOOL_CODES[code]}.\n\n`callground schema gate` says more.")
        return 0
    if code not in RULES:
        near = difflib.get_close_matches(code, RULES, 1)
        hint = f"; did you mean `{near[0]}`?" if near else "; `callground rule` lists them"
        print(f"callground: no rule `{code}`{hint}", file=sys.stderr)
        return 2
    sys.stdout.write(RULES[code].page())
    return 0


_CONTRACTS = {
    "report": ("callground.verdict", "report.md"),
    "gate": ("callground.gate", "gate.md"),
    "suggest": ("callground.caller", "suggest.md"),
}


def print_schema(what: str = "report") -> int:
    """Print the contract of the JSON report, or of the requests and answers of the gate or of `suggest`."""
    folder, name = _CONTRACTS[what]
    page = resources.files(folder) / name
    sys.stdout.write(page.read_text("utf-8"))
    return 0


def print_nvim_path() -> int:
    """Print where the files for Neovim lie."""
    print(resources.files("callground_server") / "nvim")
    return 0
