"""A team's own caller: distilled from a teacher, silent where it is not sure, better with what it is told.

caller = distill_tool_caller(teacher, requests, tools)
caller.try_local("rename load_user to fetch_user")   # {"tool": ..., "args": {...}}, or None: ask the teacher
caller("...")                                        # local, or the teacher's answer, which is kept
caller.save("caller/"); ToolCaller.load("caller/", teacher)
"""

from __future__ import annotations

import os
from collections import Counter, deque
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from threading import Lock, RLock
from typing import Any

from callground.caller.distill.artifact import ArtifactError, read_folder, write_folder
from callground.caller.distill.bounds import differ
from callground.caller.distill.comparison import Health, Improvement, count, error_rate, worse
from callground.caller.distill.rows import (
    BadAnswer,
    Ledger,
    Row,
    Teacher,
    TeacherTimeout,
    as_specs,
    ask,
    label,
    learnable,
    merge,
    read_answer,
)
from callground.caller.distill.trained import (
    Answer,
    DistillError,
    Progress,
    Trained,
    ZeroShot,
    options_of,
    train,
)
from callground.caller.distill.values import same
from callground.caller.distill.vectors import Encodes, Vectors, identity
from callground.caller.encoder import Encoder
from callground.caller.tools import ToolSpec

__all__ = [
    "ArtifactError",
    "DistillError",
    "Health",
    "Improvement",
    "Row",
    "TeacherTimeout",
    "ToolCaller",
    "ToolSpec",
    "distill_tool_caller",
]

MOST_HARVESTED = 5_000
"""Teacher's answers that are kept for `improve`; the oldest are dropped first, and counted."""

RECENT = 1_000
"""Requests that `health` looks back on."""

MOST_UNANSWERED = 1_000

SUSPICIOUS = 0.01
"""From this p-value down `health` speaks of drift."""


def distill_tool_caller(
    teacher: Teacher,
    requests: Sequence[str],
    tools: Iterable[ToolSpec | Mapping[str, Any]],
    *,
    seed: int = 0,
    selector_kw: Mapping[str, Any] | None = None,
    extractor_kw: Mapping[str, Any] | None = None,
    alpha: float = 0.1,
    delta: float = 0.05,
    new_share: float = 0.25,
    teacher_timeout: float | None = None,
    encoder: Encodes | None = None,
    zero_shot: ZeroShot | None = None,
    progress: Progress | None = None,
) -> ToolCaller:
    """Have the teacher label the requests, and learn from it.

    With confidence 1 - `delta` at most a share `alpha` of the emitted calls is wrong, for traffic like the
    requests of which a share `new_share` is phrased as none of them is.  `selector_kw` and `extractor_kw` name
    settings of `callground.caller.distill.student.Options`.  Answers that cannot be used are left out; the caller's
    `ledger` says which.  Raises DistillError when too few are left, ToolSpecError for bad tools, and
    `callground.caller.encoder.EncoderUnavailable` where the frozen encoder cannot run.
    """
    for name, value in (("alpha", alpha), ("delta", delta)):
        if not 0.0 < value < 1.0:
            raise DistillError(f"{name} must lie between 0 and 1, not {value!r}")
    if not 0.0 <= new_share <= 1.0:
        raise DistillError(f"new_share must lie between 0 and 1, not {new_share!r}")
    specs = as_specs(tools)
    options = options_of(selector_kw, extractor_kw)
    rows, ledger = label(teacher, requests, specs, timeout=teacher_timeout, progress=progress)
    network = encoder if encoder is not None else Encoder()
    vectors = Vectors(network)
    made_on = identity(network)
    if not rows and ledger.rejected:
        first = ledger.rejected[0]
        raise DistillError(f"none of {ledger.asked} answers of the teacher can be used; {first.reason}: {first.detail}")
    trained = train(
        rows,
        specs,
        vectors,
        options=options,
        alpha=alpha,
        delta=delta,
        new_share=new_share,
        seed=seed,
        zero_shot=zero_shot,
        settings={"selector_kw": dict(selector_kw or {}), "extractor_kw": dict(extractor_kw or {})},
        progress=progress,
    )
    caller = ToolCaller(trained, teacher, network, teacher_timeout=teacher_timeout, zero_shot=zero_shot, rows=rows)
    caller.ledger = ledger
    caller._vectors = vectors
    if caller._identity != made_on:
        raise DistillError("the encoder's files have changed meanwhile: distil again")
    return caller


class ToolCaller:
    """Serves a trained student.  Every method may be called from any thread."""

    def __init__(
        self,
        trained: Trained,
        teacher: Teacher | None = None,
        encoder: Encodes | None = None,
        *,
        teacher_timeout: float | None = None,
        zero_shot: ZeroShot | None = None,
        rows: Sequence[Row] = (),
        harvest: Iterable[Row] = (),
    ) -> None:
        self._trained = trained
        self._teacher = teacher
        self._timeout = teacher_timeout
        self._zero_shot = zero_shot
        self._encoder: Encodes = encoder if encoder is not None else Encoder()
        self._identity = identity(self._encoder)
        self._vectors = Vectors(self._encoder)
        self._rows = list(rows)
        self._harvest: dict[str, Row] = {row.request: row for row in harvest}
        self._lock = Lock()
        self._learning = RLock()
        self._counts: Counter[str] = Counter()
        self._failures: Counter[str] = Counter()
        self._by_tool: Counter[str] = Counter()
        self._checked: Counter[str] = Counter()
        self._recent: deque[str] = deque(maxlen=RECENT)
        self._unanswered: deque[str] = deque(maxlen=MOST_UNANSWERED)
        self.ledger = Ledger()
        """What became of the teacher's answers, for a caller that was distilled in this process."""

    # -- serving

    @property
    def tools(self) -> dict[str, ToolSpec]:
        """The tools by name."""
        return dict(self._trained.tools)

    @property
    def trained(self) -> Trained:
        """The student that is being served."""
        return self._trained

    def try_local(self, request: str) -> dict[str, Any] | None:
        """``{"tool", "args"}`` without asking the teacher, ``{"tool": None, "args": {}}`` where no tool fits; or None.

        None is an escalation: the request is strange, asks for several actions, lacks a required argument, or the
        student is not sure enough.
        """
        return _plain(self.answer(request))

    def answer(self, request: str) -> Answer:
        """The same with its score, and with "no tool" and escalation told apart by `Answer.outcome`; it is counted."""
        if not learnable(request):
            answer = Answer("escalate")
        else:
            answer = self._trained.answer(request, lambda texts: self._vectors.once(texts[0])[None, :], self._zero_shot)
        with self._lock:
            self._counts[answer.outcome] += 1
            self._recent.append(answer.outcome)
            if answer.tool is not None:
                self._by_tool[answer.tool] += 1
        return answer

    def __call__(self, request: str) -> dict[str, Any] | None:
        """The local answer, or the teacher's, which is kept in `harvested`; None when neither has one.

        A teacher that raises, takes too long or answers nonsense is counted, and the request kept in `unanswered`.
        """
        local = _plain(self.answer(request))
        if local is not None:
            return local
        row = self._ask(request)
        if row is None:
            return None
        self._keep(row)
        return {"tool": row.tool, "args": dict(row.args)}

    def _ask(self, request: str) -> Row | None:
        """The teacher's answer, if it is one."""
        if self._teacher is None:
            reason = "no-teacher"
        else:
            try:
                return read_answer(ask(self._teacher, request, self._timeout), request, self._trained.tools)
            except BadAnswer as error:
                reason = error.reason
            except TimeoutError:
                reason = "timed-out"
            except Exception:  # noqa: BLE001 - whatever the teacher does, serving goes on
                reason = "raised"
        with self._lock:
            self._failures[reason] += 1
            if isinstance(request, str):
                self._unanswered.append(request)
        return None

    def _keep(self, row: Row) -> None:
        if not learnable(row.request):
            return
        with self._lock:
            self._harvest.pop(row.request, None)
            self._harvest[row.request] = row
            while len(self._harvest) > MOST_HARVESTED:
                del self._harvest[next(iter(self._harvest))]
                self._counts["harvest-dropped"] += 1

    def check(self, request: str) -> bool | None:
        """Ask the teacher about a request that is answered locally: whether both agree; None without two answers.

        The result counts in `report`, and the teacher's answer is harvested.
        """
        answer = self.answer(request)
        local = _plain(answer)
        row = self._ask(request)
        if row is None:
            return None
        self._keep(row)
        if local is None:
            return None
        agree = local["tool"] == row.tool and same(local["args"], dict(row.args))
        with self._lock:
            kind = "call" if answer.tool is not None else "no-tool"
            self._checked[kind] += 1
            self._checked[f"{kind}-wrong"] += not agree
            self._checked["same-tool"] += local["tool"] == row.tool
        return agree

    @property
    def harvested(self) -> list[Row]:
        """The teacher's answers since the last `improve` that took them in."""
        with self._lock:
            return list(self._harvest.values())

    @property
    def unanswered(self) -> list[str]:
        """The last requests that nobody answered."""
        with self._lock:
            return list(self._unanswered)

    def report(self) -> dict[str, Any]:
        """Serving counts, the evidence behind the promise, and what checks against the teacher have shown."""
        with self._lock:
            counts, failures, checked = Counter(self._counts), Counter(self._failures), Counter(self._checked)
            by_tool, harvested = Counter(self._by_tool), len(self._harvest)
        served = counts["call"] + counts["no-tool"] + counts["escalate"]
        summary = self._trained.evidence.summary()
        both = checked["call"] + checked["no-tool"]
        return {
            "served": served,
            "calls": counts["call"],
            "no_tool": counts["no-tool"],
            "escalated": counts["escalate"],
            "escalation_rate": counts["escalate"] / served if served else None,
            "teacher_failures": dict(failures),
            "harvested": harvested,
            "harvest_dropped": counts["harvest-dropped"],
            "selector_agreement": checked["same-tool"] / both if both else summary["selector_agreement"],
            "whole_call_error": error_rate(checked["call-wrong"], checked["call"])
            if checked["call"]
            else error_rate(summary["emitted_wrong"], summary["emitted"]),
            "checked": both,
            "evidence": summary,
            "thresholds": {
                "call": self._trained.evidence.thresholds.call,
                "no_tool": self._trained.evidence.thresholds.no_tool,
                "zero_shot": self._trained.zero_shot_threshold,
            },
            "tools": {name: self._tool_report(name, by_tool[name]) for name in self._trained.tools},
            "ledger": self.ledger.as_json(),
        }

    def _tool_report(self, name: str, served: int) -> dict[str, Any]:
        evidence = self._trained.evidence
        mine = [each for each in evidence.judged if each.tool == name]
        given = [each for each in evidence.emitted() if each.decision.tool == name]
        return {
            "served": served,
            "learnt": name in self._trained.learnt,
            "examples": len(mine),
            "solved": sum(each.right for each in given),
            "emitted": len(given),
            "wrong": sum(not each.right for each in given),
            "arguments": {arg: how.kind for arg, how in self._trained.heads.writings[name].items()},
        }

    def health(self) -> Health:
        """Whether escalations and "no tool" are as frequent as in the evidence (exact tests on the last requests)."""
        with self._lock:
            recent = Counter(self._recent)
        judged = [self._trained.judged(each.decision).outcome for each in self._trained.evidence.judged]
        expected, n, total = Counter(judged), len(judged), recent.total()
        escalation = differ(recent["escalate"], total, expected["escalate"], n)
        none = differ(recent["no-tool"], total, expected["no-tool"], n)
        return Health(
            total,
            recent["escalate"] / total if total else None,
            expected["escalate"] / n,
            escalation,
            recent["no-tool"] / total if total else None,
            expected["no-tool"] / n,
            none,
            min(escalation, none) <= SUSPICIOUS,
        )

    # -- learning on

    def _train(self, rows: Sequence[Row], tools: Mapping[str, ToolSpec], progress: Progress | None) -> Trained:
        now = self._trained
        return train(
            rows,
            tools,
            self._vectors,
            options=now.options,
            alpha=now.evidence.alpha,
            delta=now.evidence.delta,
            new_share=now.new_share,
            seed=now.seed,
            zero_shot=self._zero_shot,
            settings=now.settings,
            progress=progress,
        )

    def improve(self, progress: Progress | None = None) -> Improvement:
        """Learn from the harvest too; serve the new student only if it is no worse.

        Both are compared on the same rows, none of which the one that decides was trained on: the old rows by
        cross-fitting; the harvest is new to the old student and cross-fitted for the new one.  "No worse": at least
        as many right calls, and at most the share of wrong ones among the emitted.
        """
        with self._learning:
            harvest = [row for row in self.harvested if learnable(row.request)]
            if not harvest:
                return Improvement(False, "nothing was harvested", {}, {})
            ledger = Ledger()
            rows = merge([*self._rows, *harvest], ledger)
            new = self._train(rows, self._trained.tools, progress)
            before, after = self._compare(rows, new)
            why = worse(before, after)
            if why:
                return Improvement(False, why, before, after)
            with self._lock:
                self._trained = new
                self._rows = rows
                for row in harvest:
                    if self._harvest.get(row.request) == row:
                        del self._harvest[row.request]
                self._recent.clear()
            return Improvement(True, "no fewer right calls, no larger share of wrong ones", before, after)

    def _compare(self, rows: Sequence[Row], new: Trained) -> tuple[dict[str, Any], dict[str, Any]]:
        old = self._trained
        known = {row.request: each for row, each in zip(self._rows, old.evidence.judged, strict=True)}
        before, after = Counter[str](), Counter[str]()
        for row, each in zip(rows, new.evidence.judged, strict=True):
            count(after, each.calls and each.score >= new.evidence.thresholds.call, each.right, each.tool)
            judged = known.get(row.request)
            if judged is not None:
                emitted = judged.calls and judged.score >= old.evidence.thresholds.call
                count(before, emitted, judged.right, row.tool)
                continue
            answer = old.answer(row.request, self._vectors)
            right = answer.tool == row.tool and same(answer.args, dict(row.args))
            count(before, answer.outcome == "call", right, row.tool)
        return dict(before), dict(after)

    def add_tool(
        self,
        spec: ToolSpec | Mapping[str, Any],
        examples: Iterable[tuple[str, Mapping[str, Any]]],
        progress: Progress | None = None,
    ) -> Ledger:
        """Serve one tool more, or one that has changed, given (request, arguments) pairs for it.

        The teacher is not asked again and no request is encoded twice; thresholds are found anew on all rows.
        """
        with self._learning:
            ((name, made),) = as_specs([spec]).items()
            tools = {**self._trained.tools, name: made}
            ledger = Ledger()
            rows = [row for row in self._rows if row.tool != name or _fits(row, tools)]
            new = []
            for request, args in examples:
                if not learnable(request):
                    ledger.reject(request, "not-a-request", "empty, too long, or no text")
                    continue
                try:
                    new.append(read_answer({"tool": name, "args": args}, request, tools))
                except BadAnswer as error:
                    ledger.reject(request, error.reason, error.detail)
            given = {row.request for row in new}
            rows = [row for row in rows if row.request not in given] + merge(new, ledger)
            trained = self._train(rows, tools, progress)
            with self._lock:
                self._trained = trained
                self._rows = rows
                self._harvest = {key: row for key, row in self._harvest.items() if _fits(row, tools)}
                self._recent.clear()
            return ledger

    # -- on disk

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a folder of ONNX and JSON, all of it or nothing; a digest over every file lies beside them.

        It holds the training requests and the harvest, which `improve` needs.  Raises ArtifactError when something
        else stands there.
        """
        with self._learning:
            write_folder(
                Path(path),
                self._trained,
                self._rows,
                self.harvested,
                self._identity,
                {"ledger": self.ledger.as_json(), "unanswered": self.unanswered},
            )

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        teacher: Teacher | None = None,
        *,
        device: str = "cpu",
        encoder: Encodes | None = None,
        teacher_timeout: float | None = None,
        zero_shot: ZeroShot | None = None,
    ) -> ToolCaller:
        """Read what `save` wrote; it decides as the saved one did.

        Raises ArtifactError when a file is missing, has been changed, or belongs to another encoder; ValueError for
        another device than ``cpu``.
        """
        if device != "cpu":
            raise ValueError(f"a distilled caller runs on the CPU, not on {device!r}")
        network = encoder if encoder is not None else Encoder()
        trained, rows, harvest, extra = read_folder(Path(path), identity(network))
        caller = cls(
            trained,
            teacher,
            network,
            teacher_timeout=teacher_timeout,
            zero_shot=zero_shot,
            rows=rows,
            harvest=harvest,
        )
        caller._unanswered.extend(extra.get("unanswered", ()))
        return caller


def _plain(answer: Answer) -> dict[str, Any] | None:
    if answer.outcome == "escalate":
        return None
    return {"tool": answer.tool, "args": dict(answer.args)}


def _fits(row: Row, tools: Mapping[str, ToolSpec]) -> bool:
    try:
        read_answer({"tool": row.tool, "args": row.args}, row.request, tools)
    except BadAnswer:
        return False
    return True
