"""Who teaches a distilled caller: a model behind an OpenAI-compatible address, an agent's log, or a Python function."""

from __future__ import annotations

import importlib
import json
import os
import urllib.error
import urllib.request
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from callground.caller.distill.rows import Teacher
from callground.caller.tools import ToolSpec
from callground.caller.traces import LogTeacher, read_log

KEY_VARIABLE = "CALLGROUND_TEACHER_KEY"
"""Environment variable with the key that is sent to a teacher's address."""

MOST_BYTES = 4_000_000


class TeacherError(ValueError):
    """There is no such teacher; the text says why."""


class ModelTeacher:
    """A model that calls tools, behind ``URL/chat/completions`` as OpenAI, vLLM, llama.cpp and Ollama serve it.

    Raises OSError or ValueError when it cannot be reached or answers in another form, TimeoutError after `timeout`
    seconds.  Several calls at once are no answer: the student learns single calls.
    """

    def __init__(self, url: str, tools: Iterable[ToolSpec], *, model: str = "", timeout: float = 60.0) -> None:
        self._url = url.rstrip("/")
        if not self._url.endswith("/chat/completions"):
            self._url += "/chat/completions"
        self._model = model
        self._timeout = timeout
        self._tools = [
            {
                "type": "function",
                "function": {"name": tool.name, "description": tool.description, "parameters": tool.schema},
            }
            for tool in tools
        ]

    def __call__(self, request: str) -> dict[str, Any]:
        """The model's one call, or no tool."""
        body: dict[str, Any] = {
            "messages": [{"role": "user", "content": request}],
            "tools": self._tools,
            "tool_choice": "auto",
            "temperature": 0,
        }
        if self._model:
            body["model"] = self._model
        headers = {"Content-Type": "application/json"}
        if os.environ.get(KEY_VARIABLE):
            headers["Authorization"] = f"Bearer {os.environ[KEY_VARIABLE]}"
        asked = urllib.request.Request(self._url, json.dumps(body).encode(), headers)
        with urllib.request.urlopen(asked, timeout=self._timeout) as answer:  # the address is the user's own word
            data = json.loads(answer.read(MOST_BYTES))
        try:
            message = data["choices"][0]["message"]
        except (KeyError, IndexError, TypeError):
            raise ValueError("the answer has no message") from None
        calls = message.get("tool_calls") or []
        if not calls:
            return {"tool": None, "args": {}}
        if len(calls) > 1:
            raise ValueError(f"{len(calls)} calls at once")
        function = calls[0]["function"]
        arguments = function.get("arguments") or "{}"
        return {
            "tool": function["name"],
            "args": json.loads(arguments) if isinstance(arguments, str) else arguments,
        }


def teacher_from(word: str, tools: Iterable[ToolSpec], *, model: str = "", timeout: float = 60.0) -> Teacher:
    """The teacher that a command line names: ``https://...``, a log file, or ``package.module:function``.

    A function's module is imported, as its name asks for it: it has to be installed or on PYTHONPATH.
    Raises TeacherError.
    """
    if word.startswith(("http://", "https://")):
        return ModelTeacher(word, tools, model=model, timeout=timeout)
    if Path(word).is_file():
        try:
            traces = read_log(Path(word).read_text("utf-8"))
        except (OSError, UnicodeDecodeError) as error:
            raise TeacherError(f"{word}: {error}") from None
        if not traces.turns:
            raise TeacherError(f"{word}: there is no conversation with a person's request in it")
        return LogTeacher(traces)
    module, colon, name = word.partition(":")
    if not colon or not name or not all(part.isidentifier() for part in module.split(".")):
        raise TeacherError(f"{word!r} is no address, no file and no package.module:function")
    try:
        found: Any = importlib.import_module(module)
        for part in name.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError) as error:
        raise TeacherError(f"{word}: {error}") from None
    if not callable(found):
        raise TeacherError(f"{word} is not a function")
    teacher: Teacher = found
    return teacher
