"""Requests of several steps: a whole plan that holds, or nothing.

A request is cut into clauses; each clause is one step, decided by a student that was distilled from the steps of a
teacher's plans; when the clauses are used up the plan stops.  A step may use what an earlier one gives: the teacher
writes ``$1`` or ``$1.field`` for the result of the first step.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from callground.caller.calibration import upper_bound
from callground.caller.distill.bounds import lowest_threshold
from callground.caller.distill.evidence import NEVER
from callground.caller.distill.rows import BadAnswer, Ledger, Row, as_specs, ask, merge, read_answer
from callground.caller.distill.student import Decision, decide, sureness
from callground.caller.distill.text import read
from callground.caller.distill.trained import Progress, Trained, options_of, train
from callground.caller.distill.values import same
from callground.caller.distill.vectors import Encodes, Vectors
from callground.caller.encoder import Encoder
from callground.caller.tools import ToolSpec
from callground.toolcalls import ToolCall, ground_plan

PlanTeacher = Callable[[str], Any]
"""Request -> ``{"steps": [{"tool", "args"}, ...]}``."""

MOST_STEPS = 12

_JOINT = re.compile(
    r"\s*(?:[;\n]|\.\s+(?=\S)|,)?\s*\b(?:and then|(?:and )?after that|afterwards|(?:and )?finally|then|and)\b,?\s+"
    r"|\s*[;\n]\s*|\.\s+(?=[A-Z])",
    re.IGNORECASE,
)
_ABSOLUTE = re.compile(r"\$(\d+)((?:\.\w+|\[\d+\])*)")
_RELATIVE = re.compile(r"\$-(\d+)((?:\.\w+|\[\d+\])*)")


@dataclass(frozen=True)
class Plan:
    """Steps in order; an argument ``$1`` stands for the result of the first."""

    steps: tuple[dict[str, Any], ...]
    """``{"tool", "args"}`` each."""


def clauses(request: str) -> list[str]:
    """The parts of a request that say one action each, as far as its joints show them."""
    return [part.strip(" ,.;") for part in _JOINT.split(request) if part and part.strip(" ,.;")]


def distill_planner(
    teacher: PlanTeacher,
    requests: Sequence[str],
    tools: Iterable[ToolSpec | Mapping[str, Any]],
    *,
    seed: int = 0,
    selector_kw: Mapping[str, Any] | None = None,
    extractor_kw: Mapping[str, Any] | None = None,
    alpha: float = 0.1,
    delta: float = 0.05,
    encoder: Encodes | None = None,
    teacher_timeout: float | None = None,
    progress: Progress | None = None,
) -> Planner:
    """Learn from a teacher's plans.

    With confidence 1 - `delta` at most a share `alpha` of the plans that are given is not the teacher's, for requests
    like these.  Plans whose steps do not follow the request's clauses teach nothing but count as evidence.
    Raises DistillError when too little is left.
    """
    specs = as_specs(tools)
    ledger = Ledger()
    plans: list[tuple[str, list[str], list[Row]]] = []
    for request in dict.fromkeys(requests):
        try:
            steps = _steps(ask(teacher, request, teacher_timeout), specs)
        except BadAnswer as error:
            ledger.reject(request, error.reason, error.detail)
        except TimeoutError as error:
            ledger.reject(request, "timed-out", str(error))
        except Exception as error:  # noqa: BLE001 - a teacher may fail in any way
            ledger.reject(request, "raised", f"{type(error).__name__}: {error}")
        else:
            plans.append((request, clauses(request), steps))
    ledger.used = len(plans)
    rows = merge(
        (
            Row(part, step.tool, step.args)
            for _, parts, steps in plans
            if len(parts) == len(steps)
            for part, step in zip(parts, steps, strict=True)
        ),
        Ledger(),
    )
    vectors = Vectors(encoder if encoder is not None else Encoder())
    trained = train(
        rows,
        specs,
        vectors,
        options=options_of(selector_kw, extractor_kw),
        alpha=alpha,
        delta=delta,
        new_share=0.25,
        seed=seed,
        progress=progress,
    )
    planner = Planner(trained, vectors, NEVER, ledger, {})
    fresh = {row.request: each.decision for row, each in zip(rows, trained.evidence.judged, strict=True)}
    scored: list[tuple[float, bool]] = []
    for _, parts, steps in plans:
        decided = [fresh[part] if part in fresh else planner.decide(part) for part in parts]
        score, plan = planner.assembled(decided)
        if plan is not None:
            right = len(plan) == len(steps) and all(
                one["tool"] == step.tool and same(one["args"], dict(step.args))
                for one, step in zip(_relative(plan), steps, strict=True)
            )
            scored.append((score, not right))
    threshold = lowest_threshold(scored, alpha, delta)
    given = [wrong for score, wrong in scored if threshold is not None and score >= threshold]
    record = {
        "plans": len(plans),
        "given": len(given),
        "wrong": sum(given),
        "error_bound": upper_bound(sum(given), len(given), delta) if given else 1.0,
    }
    return Planner(trained, vectors, NEVER if threshold is None else threshold, ledger, record)


class Planner:
    """Serves whole plans.  Thread-safe: it keeps nothing but vectors."""

    def __init__(
        self, trained: Trained, vectors: Vectors, threshold: float, ledger: Ledger, evidence: Mapping[str, Any]
    ) -> None:
        self._trained = trained
        self._vectors = vectors
        self._threshold = threshold
        self.ledger = ledger
        self.evidence = dict(evidence)
        """``plans``, ``given``, ``wrong`` and ``error_bound`` on plans that were not trained on."""

    def decide(self, clause: str) -> Decision:
        """What the student would do for one clause."""
        reading = read(clause)
        return decide(self._trained.heads, reading, self._vectors.once(reading.masked), self._trained.tools)

    def try_plan(self, request: str) -> Plan | None:
        """Every step of the request, or None: one that is not sure, not grounded or not whole spoils them all."""
        parts = clauses(request) if isinstance(request, str) else []
        if not parts or len(parts) > MOST_STEPS:
            return None
        score, steps = self.assembled([self.decide(part) for part in parts])
        if steps is None or score < self._threshold or not self._grounded(steps):
            return None
        return Plan(tuple(steps))

    def assembled(self, decisions: Sequence[Decision]) -> tuple[float, list[dict[str, Any]] | None]:
        """(how sure the least sure step is, the steps); None where a step is no call or refers to none before it."""
        steps: list[dict[str, Any]] = []
        for number, decision in enumerate(decisions):
            if decision.args is None or decision.tool is None:
                return 0.0, None
            args = {}
            for name, value in decision.args.items():
                found = _RELATIVE.fullmatch(value) if isinstance(value, str) else None
                if found is not None:
                    step = number + 1 - int(found[1])
                    if step < 1:
                        return 0.0, None
                    value = f"${step}{found[2]}"
                args[name] = value
            steps.append({"tool": decision.tool, "args": args})
        return min((sureness(d.features) for d in decisions), default=0.0), steps or None

    def _grounded(self, steps: Sequence[Mapping[str, Any]]) -> bool:
        """Whether the gate finds no fault in the plan; a reference stands for a value that is not there yet."""
        calls = [ToolCall(step["tool"], step["args"], number) for number, step in enumerate(steps)]
        known = {name: tool.as_toolcall_spec() for name, tool in self._trained.tools.items()}
        for outcome, step in zip(ground_plan(calls, known), steps, strict=True):
            later = {name for name, value in step["args"].items() if isinstance(value, str) and value.startswith("$")}
            if any(not fault.path or fault.path[0] not in later for fault in outcome.faults):
                return False
        return True


def _steps(answer: Any, tools: Mapping[str, ToolSpec]) -> list[Row]:
    """A plan as rows, references relative to their step.  Raises BadAnswer."""
    steps = answer.get("steps") if isinstance(answer, Mapping) else None
    if not isinstance(steps, list) or not 0 < len(steps) <= MOST_STEPS:
        raise BadAnswer("not-an-answer", f"no `steps`, or not 1 to {MOST_STEPS} of them")
    out = []
    for step, plain in zip(steps, _relative(steps), strict=True):
        if not isinstance(step, Mapping) or step.get("tool") is None:
            raise BadAnswer("not-an-answer", "a step without a tool")
        out.append(read_answer(plain, "", tools))
    return out


def _relative(steps: Sequence[Any]) -> list[Any]:
    """Steps with ``$-1`` for the step before instead of ``$1`` for the first: so it is the same wherever it stands."""
    out: list[Any] = []
    for number, step in enumerate(steps):
        args = step.get("args") if isinstance(step, Mapping) else None
        if not isinstance(args, Mapping):
            out.append(step)
            continue
        plain = {}
        for name, value in args.items():
            found = _ABSOLUTE.fullmatch(value) if isinstance(value, str) else None
            if found is not None:
                back = number + 1 - int(found[1])
                if back < 1:
                    raise BadAnswer("bad-arguments", f"step {number + 1} refers to step {found[1]}")
                value = f"$-{back}{found[2]}"
            plain[name] = value
        out.append({"tool": step.get("tool"), "args": plain})
    return out
