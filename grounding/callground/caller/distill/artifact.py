"""A distilled caller as a folder: ONNX models, JSON, and a digest over every file."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from callground.caller.distill.charts import reliability, risk_coverage
from callground.caller.distill.evidence import Evidence, Gate, Judged, Thresholds
from callground.caller.distill.networks import SELECT_FILE, TAG_FILE, run_by_sessions
from callground.caller.distill.rows import Row
from callground.caller.distill.student import Decision, Heads, Options
from callground.caller.distill.tagger import KnownValues, Tagger
from callground.caller.distill.trained import Trained
from callground.caller.distill.values import Writing
from callground.caller.tools import ToolParameter, ToolSpec

FORMAT = 1
STUDENT_FILE = "student.json"
EVIDENCE_FILE = "evidence.json"
ROWS_FILE = "rows.jsonl"
HARVEST_FILE = "harvest.jsonl"
DIGESTS_FILE = "digests.json"
RELIABILITY_FILE = "reliability.svg"
RISK_FILE = "risk_coverage.svg"
_FILES = (
    SELECT_FILE,
    TAG_FILE,
    STUDENT_FILE,
    EVIDENCE_FILE,
    ROWS_FILE,
    HARVEST_FILE,
    RELIABILITY_FILE,
    RISK_FILE,
)


class ArtifactError(ValueError):
    """A folder that is no distilled caller, or one that has been changed; the text says which file."""


def write_folder(
    path: Path, trained: Trained, rows: Iterable[Row], harvest: Iterable[Row], encoder: str, extra: Mapping[str, Any]
) -> None:
    """Write the folder beside its place and put it there in one step; what stood there is replaced whole."""
    path = path.absolute()
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.exists():
        strange = {each.name for each in path.iterdir()} - {*_FILES, DIGESTS_FILE} if path.is_dir() else {path.name}
        if strange:
            raise ArtifactError(f"{path} exists and has other files than a distilled caller's: it is not overwritten")
    work = Path(tempfile.mkdtemp(prefix=f".{path.name}-", dir=path.parent))
    try:
        (work / SELECT_FILE).write_bytes(trained.models[0])
        (work / TAG_FILE).write_bytes(trained.models[1])
        _write(work / STUDENT_FILE, _student(trained, encoder, extra))
        _write(work / EVIDENCE_FILE, _evidence(trained.evidence))
        for name, items in ((ROWS_FILE, rows), (HARVEST_FILE, harvest)):
            lines = [json.dumps([row.request, row.tool, dict(row.args)]) for row in items]
            (work / name).write_text("".join(line + "\n" for line in lines), "utf-8")
        (work / RELIABILITY_FILE).write_text(reliability(trained.evidence), "utf-8")
        (work / RISK_FILE).write_text(risk_coverage(trained.evidence), "utf-8")
        _write(work / DIGESTS_FILE, {name: _digest(work / name) for name in _FILES})
        os.chmod(work, 0o755)
        if path.exists():
            old = Path(tempfile.mkdtemp(prefix=f".{path.name}-old-", dir=path.parent))
            os.replace(path, old / "x")
            os.replace(work, path)
            shutil.rmtree(old, ignore_errors=True)
        else:
            os.replace(work, path)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def read_folder(path: Path, encoder: str) -> tuple[Trained, list[Row], list[Row], dict[str, Any]]:
    """(student, training rows, harvest, what the caller added).  Raises ArtifactError unless all is as it was saved."""
    try:
        digests = json.loads((path / DIGESTS_FILE).read_text("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise ArtifactError(f"{path} is no distilled caller: {DIGESTS_FILE}: {error}") from None
    if not isinstance(digests, dict) or set(digests) != set(_FILES):
        raise ArtifactError(f"{path / DIGESTS_FILE} does not list the files of a distilled caller")
    found = {each.name for each in path.iterdir()}
    if found != {*_FILES, DIGESTS_FILE}:
        strange = sorted(found.symmetric_difference({*_FILES, DIGESTS_FILE}))
        raise ArtifactError(f"{path} lacks files or has others: {', '.join(strange)}")
    for name in _FILES:
        if not (path / name).is_file() or _digest(path / name) != digests[name]:
            raise ArtifactError(f"{path / name} is not what was saved: its digest differs; distil again or restore it")
    try:
        student = json.loads((path / STUDENT_FILE).read_text("utf-8"))
        if student["format"] != FORMAT:
            raise ArtifactError(f"{path} has format {student['format']}, this version reads {FORMAT}")
        if student["encoder"] != encoder:
            raise ArtifactError(f"{path} was distilled on another encoder than the one that is installed: distil again")
        evidence = _read_evidence(json.loads((path / EVIDENCE_FILE).read_text("utf-8")))
        models = ((path / SELECT_FILE).read_bytes(), (path / TAG_FILE).read_bytes())
        trained = _read_student(student, models, evidence)
        rows, harvest = (_rows(path / name) for name in (ROWS_FILE, HARVEST_FILE))
    except (KeyError, TypeError, ValueError, IndexError, OSError, RecursionError) as error:
        if isinstance(error, ArtifactError):
            raise
        raise ArtifactError(f"{path} cannot be read: {type(error).__name__}: {error}") from None
    return trained, rows, harvest, student["extra"]


def _write(path: Path, data: Any) -> None:
    path.write_text(json.dumps(data, separators=(",", ":")), "utf-8")


def _digest(path: Path) -> str:
    return "sha256:" + hashlib.sha256(path.read_bytes()).hexdigest()


def _rows(path: Path) -> list[Row]:
    lines = path.read_text("utf-8").split("\n")
    return [Row(request, tool, args) for request, tool, args in (json.loads(line) for line in lines if line)]


def _student(trained: Trained, encoder: str, extra: Mapping[str, Any]) -> dict[str, Any]:
    heads, tagger = trained.heads, trained.heads.tagger
    return {
        "format": FORMAT,
        "encoder": encoder,
        "tools": [tool_as_json(tool) for tool in trained.tools.values()],
        "learnt": trained.learnt,
        "classes": heads.classes,
        "choices": heads.choices,
        "writings": {tool: {arg: list(w) for arg, w in args.items()} for tool, args in heads.writings.items()},
        "arguments": tagger.arguments,
        "by_tool": tagger.by_tool,
        "vocabulary": sorted(tagger.vocabulary, key=tagger.vocabulary.__getitem__),
        "transitions": tagger.transitions.tolist(),
        "known": sorted(tagger.known.words),
        "zero_shot_threshold": trained.zero_shot_threshold,
        "zero_shot_rows": trained.zero_shot_rows,
        "options": asdict(trained.options),
        "new_share": trained.new_share,
        "seed": trained.seed,
        "settings": trained.settings,
        "extra": dict(extra),
    }


def _read_student(data: Mapping[str, Any], models: tuple[bytes, bytes], evidence: Evidence) -> Trained:
    known = KnownValues()
    for argument, word in data["known"]:
        known.add_word(argument, word)
    vocabulary = {name: i for i, name in enumerate(data["vocabulary"])}
    none = np.zeros((0, 0))
    tagger = Tagger(data["arguments"], data["by_tool"], vocabulary, none, np.array(data["transitions"]), known)
    heads = Heads(
        tuple(data["classes"]),
        lambda _: (none, none),
        none.astype(np.float32),
        none,
        0.0,
        {tool: {arg: tuple(values) for arg, values in args.items()} for tool, args in data["choices"].items()},
        none,
        tagger,
        {
            tool: {arg: Writing(w[0], w[1], tuple(w[2]), w[3]) for arg, w in args.items()}
            for tool, args in data["writings"].items()
        },
    )
    return Trained(
        {tool["name"]: tool_from_json(tool) for tool in data["tools"]},
        tuple(data["learnt"]),
        run_by_sessions(heads, *models),
        models,
        evidence,
        data["zero_shot_threshold"],
        (data["zero_shot_rows"][0], data["zero_shot_rows"][1]),
        Options(**data["options"]),
        data["new_share"],
        data["seed"],
        data["settings"],
    )


def tool_as_json(tool: ToolSpec) -> dict[str, Any]:
    """A tool as plain data."""
    return {
        "name": tool.name,
        "args": [
            {
                "name": arg.name,
                "type": arg.type,
                "description": arg.description,
                "required": arg.required,
                "enum": None if arg.enum is None else list(arg.enum),
                "default": arg.default,
                "items": arg.items,
                "schema": dict(arg.schema),
            }
            for arg in tool.args
        ],
        "vocabulary": {name: list(values) for name, values in tool.vocabulary.items()},
        "description": tool.description,
        "schema": tool.schema,
        "source": tool.source,
    }


def tool_from_json(data: Mapping[str, Any]) -> ToolSpec:
    """And back."""
    args = [
        ToolParameter(**{**arg, "enum": None if arg["enum"] is None else tuple(arg["enum"])}) for arg in data["args"]
    ]
    return ToolSpec(
        data["name"],
        args,
        vocabulary=data["vocabulary"],
        description=data["description"],
        schema=data["schema"],
        source=data["source"],
    )


def _evidence(evidence: Evidence) -> dict[str, Any]:
    return {
        "summary": evidence.summary(),
        "alpha": evidence.alpha,
        "delta": evidence.delta,
        "gate": asdict(evidence.gate),
        "thresholds": asdict(evidence.thresholds),
        "rows": [
            [
                each.tool,
                each.decision.tool,
                each.decision.args is not None,
                list(each.decision.features),
                each.decision.score,
                each.right,
                each.score,
                each.group,
            ]
            for each in evidence.judged
        ],
    }


def _read_evidence(data: Mapping[str, Any]) -> Evidence:
    judged = tuple(
        Judged(Decision(said, {} if calls else None, tuple(features), top), tool, right, score, group)
        for tool, said, calls, features, top, right, score, group in data["rows"]
    )
    gate = Gate(**data["gate"])
    return Evidence(judged, gate, Thresholds(**data["thresholds"]), data["alpha"], data["delta"])
