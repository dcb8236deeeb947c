"""``callground distill``: a team's own caller out of a teacher's answers."""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path
from typing import Any

from callground_server.cli.progress import ProgressBar
from callground_server.cli.style import Style, style_for


class _Unusable(ValueError):
    """Wrong usage; the text says why."""


def add_parser(commands: Any) -> None:
    """The command's options."""
    parser = commands.add_parser(
        "distill",
        help="learn a caller for your own tools from a teacher",
        description="Have a teacher answer requests, learn from it, and write the caller to a folder. "
        "Exit status: 0 written, 1 written but it never answers by itself, 2 usage, or there is too little to learn.",
    )
    parser.add_argument("--tools", required=True, metavar="TOOLS.json", help="MCP, OpenAI or Anthropic definitions")
    parser.add_argument(
        "--requests", metavar="REQ.jsonl", help="a JSON string or an object with `request` a line; default: the log's"
    )
    parser.add_argument(
        "--teacher",
        required=True,
        metavar="URL|LOG|pkg:function",
        help="an OpenAI-compatible address, an agent's log (Anthropic, OpenAI, MCP), or a Python function",
    )
    parser.add_argument("--out", required=True, metavar="DIR", help="where the caller is written")
    parser.add_argument("--model", default="", metavar="NAME", help="the model to ask for, with an address")
    parser.add_argument("--timeout", type=float, default=60.0, metavar="SECONDS", help="for one answer; default: 60")
    parser.add_argument("--alpha", type=float, default=0.1, help="highest share of wrong calls; default: 0.1")
    parser.add_argument("--delta", type=float, default=0.05, help="how unsure that promise may be; default: 0.05")
    parser.add_argument("--seed", type=int, default=0, help="default: 0")
    parser.add_argument("--json", action="store_true", help="print the report as JSON")
    parser.add_argument("--no-progress", action="store_true", help="no progress bar, not even on a terminal")


def run(options: argparse.Namespace) -> int:
    """Carry out the command; the exit status."""
    from callground.caller.encoder import EncoderUnavailable
    from callground.caller.teachers import TeacherError
    from callground.caller.tool_caller import ArtifactError, DistillError
    from callground.caller.tools import ToolSpecError

    try:
        return _run(options)
    except OSError as error:
        print(f"callground: {options.out}: {error.strerror or error}", file=sys.stderr)
        return 2
    except (_Unusable, TeacherError, ArtifactError, DistillError, ToolSpecError, EncoderUnavailable) as error:
        print(f"callground: {error}", file=sys.stderr)
        return 2


def _run(options: argparse.Namespace) -> int:
    from callground.caller.distill.evidence import NEVER
    from callground.caller.encoder import Encoder
    from callground.caller.own_caller import BundledProposals
    from callground.caller.teachers import teacher_from
    from callground.caller.tool_caller import distill_tool_caller
    from callground.caller.tools import read_tools

    tools, problems = read_tools(_json_of(options.tools), os.path.basename(options.tools))
    for problem in problems:
        print(f"callground: {options.tools}: {problem}", file=sys.stderr)
    if not tools:
        raise _Unusable(f"{options.tools}: there is no tool in it")
    teacher = teacher_from(options.teacher, tools, model=options.model, timeout=options.timeout)
    known = getattr(teacher, "requests", None)
    if options.requests is not None:
        requests = read_requests(Path(options.requests))
    elif isinstance(known, list):
        requests = known
    else:
        raise _Unusable("--requests is needed unless the teacher is a log")
    with ProgressBar(sys.stderr, wanted=not options.no_progress) as bar:
        caller = distill_tool_caller(
            teacher,
            requests,
            tools,
            seed=options.seed,
            alpha=options.alpha,
            delta=options.delta,
            teacher_timeout=options.timeout,
            zero_shot=BundledProposals(tools, Encoder()),
            progress=bar.update,
        )
    caller.save(options.out)
    report = caller.report()
    if options.json:
        print(json.dumps(report, indent=1, ensure_ascii=False))
    else:
        print("\n".join(summary(report, options.out, style_for(sys.stdout))))
    return 1 if report["thresholds"]["call"] >= NEVER else 0


def read_requests(path: Path) -> list[str]:
    """Requests, one a line: a JSON string, an object with ``request``, ``text`` or ``prompt``, or plain text."""
    try:
        text = path.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise _Unusable(f"{path}: {error}") from None
    out: list[str] = []
    # A line ends at a line feed only: other separators may stand inside a JSON string.
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            data = json.loads(line)
        except (ValueError, RecursionError) as error:
            if line.lstrip()[0] in '{"[':
                raise _Unusable(f"{path}:{number}: {error}") from None
            data = line.strip()
        if isinstance(data, dict):
            data = next((data[key] for key in ("request", "text", "prompt") if key in data), None)
        if not isinstance(data, str):
            raise _Unusable(f"{path}:{number}: no request: a JSON string or an object with `request` is expected")
        out.append(data)
    return out


def _json_of(name: str) -> Any:
    try:
        return json.loads(Path(name).read_text("utf-8-sig"))
    except (OSError, ValueError) as error:
        raise _Unusable(f"{name}: {error}") from None


def summary(report: dict[str, Any], out: str, style: Style) -> list[str]:
    """What was learnt, as a table for people."""
    evidence, ledger = report["evidence"], report["ledger"]
    lines = [f"{ledger['used']} of {ledger['asked']} answers of the teacher used"]
    lines += [f"  {count} left out: {reason}" for reason, count in ledger["left_out"].items()]
    names = {name: len(name) for name in report["tools"]}
    width = max([*names.values(), 4])
    lines += ["", style("bold", f"{'tool':{width}}  examples  solved  wrong  arguments")]
    for name, tool in report["tools"].items():
        how = ", ".join(f"{arg}: {kind}" for arg, kind in tool["arguments"].items()) if tool["learnt"] else "not learnt"
        lines.append(f"{name:{width}}  {tool['examples']:8}  {tool['solved']:6}  {tool['wrong']:5}  {how}")
    lines += [
        "",
        "On rows that were not trained on:",
        f"  emitted {evidence['emitted']} calls, {evidence['emitted_wrong']} wrong: at most "
        f"{evidence['error_bound']:.1%} with {1 - evidence['delta']:.0%} confidence (alpha {evidence['alpha']:g})",
        f"  solved {evidence['in_scope_solved']} of {evidence['in_scope']} requests that a tool fits",
        f"  called a tool for {evidence['out_of_scope_called']} of {evidence['out_of_scope']} that none fits",
        "",
        f"written: {out} (reliability.svg and risk_coverage.svg show it)",
    ]
    if not evidence["emitted"]:
        lines.append(style("warning", "no threshold keeps the promise: it escalates every request; give it more rows"))
    return lines
