"""Suggestions of calls as JSON, the same through every door: what is asked, and what is answered.

``callground schema suggest`` prints the contract (`suggest.md` in `callground.caller`).
"""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from callground.config.model import Caller
from callground_server.gate.wire import RequestError

if TYPE_CHECKING:
    from callground.caller.bundled import BundledCaller
    from callground.caller.encoder import Encoder
    from callground.caller.own_caller import OwnCaller
    from callground.caller.tool_vectors import ToolVectors
    from callground.facts.store import Store

KEYS = ("request", "tools", "tools_name", "alpha", "delta", "ask", "explain")
MAX_REQUEST = 20_000
MAX_TOOLS = 5_000
_CALLERS = 8
"""Lists of tools that are kept ready."""


class Suggester:
    """The caller behind every face: one network, and the lists of tools that were asked about last."""

    def __init__(self, store: Store | None = None) -> None:
        self._store = store
        self._lock = threading.Lock()
        self._encoders: dict[str, tuple[Encoder, ToolVectors]] = {}
        self._callers: OrderedDict[tuple[Any, ...], BundledCaller] = OrderedDict()
        self._distilled: tuple[tuple[str, int], OwnCaller] | None = None

    def suggest(self, data: Any, settings: Caller) -> dict[str, Any]:
        """The answer to a request.  Raises RequestError, also where the caller is off or cannot run."""
        if not isinstance(data, Mapping):
            raise RequestError("a request is a JSON object")
        unknown = sorted(set(map(str, data)) - set(KEYS))
        if unknown:
            raise RequestError(f"unknown member{'s' if len(unknown) > 1 else ''}: {', '.join(unknown)}")
        text = data.get("request")
        if not isinstance(text, str):
            raise RequestError("`request` must be a string: what is to be done")
        if len(text) > MAX_REQUEST:
            raise RequestError(f"`request` is longer than {MAX_REQUEST} characters")
        alpha, delta = _level(data, "alpha", settings.alpha), _level(data, "delta", settings.delta)
        ask, explain = _flag(data, "ask"), _flag(data, "explain")
        if data.get("tools") is None:
            raise RequestError("`tools` is missing: the definitions of the tools that there are")
        reason = unavailable(settings)
        if reason is not None:
            raise RequestError(reason)
        from callground.caller.answers import answer_json
        from callground.caller.argument_ranker import RankerUnavailable
        from callground.caller.encoder import EncoderUnavailable
        from callground.caller.tools import read_tools

        name = data.get("tools_name")
        tools, problems = read_tools(data["tools"], name if isinstance(name, str) else "<tools>")
        if not tools:
            raise RequestError(f"`tools` holds no tool: {'; '.join(problems)[:300] or 'it is empty'}")
        if len(tools) > MAX_TOOLS:
            raise RequestError(f"`tools` holds more than {MAX_TOOLS} tools")
        try:
            with self._lock:
                own = self._own(settings.path)
                caller = self._caller(tuple(tools), alpha, delta, None if own is not None else settings.path)
                found = own.suggest(text, tools, alpha=alpha, delta=delta, ask=ask) if own is not None else None
                result = found or caller.suggest(text, ask=ask)
        except (EncoderUnavailable, RankerUnavailable) as error:
            raise RequestError(f"the caller is off: {error}") from None
        return answer_json(text, result, caller, explain=explain, problems=problems)

    def _caller(self, tools: tuple[Any, ...], alpha: float, delta: float, path: str | None) -> BundledCaller:
        from callground.caller.bundled import BundledCaller, CalibrationError, GateError

        key = (tuple(tool.key for tool in tools), tuple(tool.required for tool in tools), alpha, delta, path)
        caller = self._callers.get(key)
        if caller is None:
            encoder, vectors = self._network(path)
            try:
                caller = BundledCaller(tools, encoder, alpha=alpha, delta=delta, vectors=vectors)
            except (GateError, CalibrationError) as error:
                raise RequestError(f"the caller is off: {error}") from None
            self._callers[key] = caller
            while len(self._callers) > _CALLERS:
                self._callers.popitem(last=False)
        self._callers.move_to_end(key)
        return caller

    def _own(self, path: str | None) -> OwnCaller | None:
        """The distilled caller of a folder; read again when the folder was written anew."""
        from callground.caller.distill.artifact import ArtifactError
        from callground.caller.own_caller import OwnCaller, is_distilled

        if not path or not is_distilled(path):
            return None
        try:
            written = os.stat(path).st_mtime_ns
            if self._distilled is None or self._distilled[0] != (path, written):
                self._distilled = ((path, written), OwnCaller(path, self._network(None)[0]))
        except (OSError, ArtifactError) as error:
            raise RequestError(f"the caller is off: {error}") from None
        return self._distilled[1]

    def _network(self, path: str | None) -> tuple[Encoder, ToolVectors]:
        from callground.caller.encoder import Encoder
        from callground.caller.tool_vectors import ToolVectors

        known = self._encoders.get(path or "")
        if known is None:
            encoder = Encoder(Path(path)) if path else Encoder()
            known = self._encoders[path or ""] = (encoder, ToolVectors(encoder, self._store))
        return known


def unavailable(settings: Caller) -> str | None:
    """Why there are no suggestions, or None."""
    if not settings.enabled:
        return "the caller is switched off (`caller.enabled` of the settings)"
    from callground.caller.encoder import Encoder
    from callground.caller.own_caller import is_distilled

    bundled = not settings.path or is_distilled(settings.path)
    reason = (Encoder() if bundled else Encoder(Path(settings.path or ""))).available()
    return f"the caller is off: {reason}; everything else works without it" if reason is not None else None


def _level(data: Mapping[str, Any], key: str, default: float) -> float:
    value = data.get(key)
    if value is None:
        return default
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1:
        raise RequestError(f"`{key}` must be a number between 0 and 1")
    return float(value)


def _flag(data: Mapping[str, Any], key: str) -> bool:
    value = data.get(key, False)
    if not isinstance(value, bool):
        raise RequestError(f"`{key}` must be true or false")
    return value
