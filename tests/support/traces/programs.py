"""Python text to work on: functions full of calls, no two of which have the same name.

A call's name tells who put it there, so that the truth of a recording is a table of names.
"""

from __future__ import annotations

import ast
import random

VERBS = (
    "load read parse merge split fetch store build apply check count drop find format group hash index join keep "
    "limit match order pack query render scan send sort take trim update verify walk write encode decode resolve "
    "collect expand flatten filter lookup measure normalize observe publish reduce sample schedule validate"
).split()
NOUNS = (
    "row page user event record batch chunk token header frame path node edge cell price invoice order item queue "
    "session payload metric window region layer image label report budget ticket worker shard cursor snapshot index"
).split()
OBJECTS = "client store session repo cache queue engine service registry parser".split()
WORDS = "items rows values data batch records entries chunks lines nodes result total first last key value".split()
LITERALS = ("3", "0.5", "'utf-8'", '"name"', "None", "True", "[]", "{}", "10", "'/tmp/x'", "{'a': 1}", "-1")
KEYWORDS = "timeout limit mode encoding strict retries default strategy depth".split()


class Writer:
    """Writes code; every call that it writes has a name of its own."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self._names = [f"{verb}_{noun}" for verb in VERBS for noun in NOUNS]
        self.random.shuffle(self._names)

    def name(self) -> str:
        """A name that was not used before."""
        return self._names.pop()

    def argument(self) -> str:
        """One argument."""
        pick = self.random.random()
        if pick < 0.5:
            return self.random.choice(WORDS)
        if pick < 0.75:
            return self.random.choice(LITERALS)
        if pick < 0.9:
            return f"{self.random.choice(KEYWORDS)}={self.random.choice((*LITERALS, *WORDS))}"
        return f"{self.random.choice(WORDS)}.{self.random.choice(WORDS)}"

    def arguments(self, least: int = 1) -> str:
        """Arguments, keywords last."""
        given = [self.argument() for _ in range(self.random.randint(least, 3))]
        plain = [text for text in given if "=" not in text]
        named = {text.partition("=")[0]: text for text in given if "=" in text}
        return ", ".join([*plain, *named.values()]) or self.random.choice(WORDS)

    def call(self, nested: bool = True) -> str:
        """A call with arguments."""
        name = self.name()
        if self.random.random() < 0.5:
            name = f"{self.random.choice(OBJECTS)}.{name}"
        if nested and self.random.random() < 0.15:
            return f"{name}({self.call(nested=False)}, {self.random.choice(WORDS)})"
        return f"{name}({self.arguments()})"

    def statement(self) -> list[str]:
        """One statement with a call: its lines, without indentation."""
        pick = self.random.random()
        word = self.random.choice(WORDS)
        if pick < 0.35:
            return [f"{word} = {self.call()}"]
        if pick < 0.5:
            return [self.call()]
        if pick < 0.6:
            return [f"if {self.call()}:", f"    {self.random.choice(WORDS)} = {self.call()}"]
        if pick < 0.7:
            return [f"for {word} in {self.call()}:", f"    {self.call()}"]
        if pick < 0.78:
            return [f"with {self.call(nested=False)} as {word}:", f"    {word}.{self.name()}({self.arguments()})"]
        if pick < 0.86:
            return [f"{word} = [{self.call()} for entry in {self.random.choice(WORDS)}]"]
        if pick < 0.94:
            return [f"{word} = {self.name()}(", f"    {self.call(nested=False)},", f"    {self.arguments()},", ")"]
        return [f"{word} = {self.random.randint(1, 99)}"]

    def function(self, lines: int = 8, indent: str = "") -> str:
        """A function of about so many lines, its end included."""
        parameters = ", ".join(self.random.sample(WORDS, 2))
        body: list[str] = []
        while len(body) < lines - 2:
            body += self.statement()
        body.append(f"return {self.random.choice(WORDS)}")
        text = [f"def {self.name()}({parameters}):", *(f"    {line}" for line in body)]
        return "".join(f"{indent}{line}\n" for line in text)

    def module(self, functions: int = 3, lines: int = 7) -> str:
        """A module of functions."""
        imports = "import json\nimport os\nfrom pathlib import Path\n"
        return imports + "".join("\n\n" + self.function(lines) for _ in range(functions))


def calls_of(text: str) -> list[str]:
    """The last name of each call's callee; texts that do not parse raise SyntaxError."""
    names = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call):
            names.append(node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", ""))
    return [name for name in names if name]
