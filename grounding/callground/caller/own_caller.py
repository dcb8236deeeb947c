"""A team's distilled caller in front of the bundled one, where ``caller.path`` names its folder."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from callground.caller.bundled import Abstention, BundledCaller, Suggestion, Why
from callground.caller.distill.artifact import STUDENT_FILE
from callground.caller.encoder import Encoder
from callground.caller.tool_caller import ToolCaller
from callground.caller.tools import ToolSpec
from callground.toolcalls import ToolCall, ground_call


def is_distilled(path: str | os.PathLike[str]) -> bool:
    """Whether a folder holds a distilled caller, not a model."""
    return (Path(path) / STUDENT_FILE).is_file()


class BundledProposals:
    """The bundled caller's best call without its gate: it stands in for tools with too few examples."""

    def __init__(self, tools: Sequence[ToolSpec], encoder: Encoder) -> None:
        self._bundled = BundledCaller(tools, encoder)

    def propose(self, request: str) -> tuple[str, dict[str, Any], float] | None:
        """(tool, arguments, how sure from 0 to 1), or None where a required argument is not said."""
        found = self._bundled.suggest(request, ask=True)
        if not isinstance(found, Suggestion) or found.missing:
            return None
        return found.tool, found.arguments, found.score


class OwnCaller:
    """Answers what the distilled caller is sure of; everything else is the bundled caller's to decide.

    Raises ArtifactError for a damaged folder, or one that belongs to another encoder.
    """

    def __init__(self, path: str | os.PathLike[str], encoder: Encoder) -> None:
        tools = list(ToolCaller.load(path, encoder=encoder).tools.values())
        self._caller = ToolCaller.load(path, encoder=encoder, zero_shot=BundledProposals(tools, encoder))

    def suggest(
        self, request: str, tools: Sequence[ToolSpec], *, alpha: float, delta: float, ask: bool = False
    ) -> Suggestion | Abstention | None:
        """A call of one of `tools`, that none fits, or None: ask another caller.

        None too where `alpha` or `delta` ask for more than the evidence promises, or a tool is not one of its own.
        """
        evidence = self._caller.trained.evidence
        if evidence.alpha > alpha or evidence.delta > delta:
            return None
        # A tool that it never heard of may be the one that is meant: its evidence says nothing of that.
        if any(tool.name not in self._caller.tools for tool in tools):
            return None
        answer = self._caller.answer(request)
        if answer.outcome == "no-tool":
            if ask:
                return None
            return Abstention(Why.NOT_SURE, "the distilled caller knows that none of its tools fits", answer.score)
        specs = {tool.name: tool.as_toolcall_spec() for tool in tools}
        if answer.outcome != "call" or answer.tool is None or answer.tool not in specs:
            return None
        arguments = dict(answer.args)
        # The tools may have changed since the distillation.
        outcome = ground_call(ToolCall(answer.tool, arguments), specs)
        if outcome.faults or (outcome.status == "abstained" and outcome.reason is not None):
            return None
        return Suggestion(answer.tool, arguments, answer.score, answer.score)
