"""Repairs of calls whose arguments do not fit: keywords, positions, and what is missing or too much."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from callground.facts.model import Param
from callground.repairs import calltext
from callground.repairs.asked import Asked
from callground.repairs.calltext import Argument, CallText
from callground.repairs.candidates import first_parameter
from callground.repairs.model import Candidate, FileEdits, Ranked, Repair
from callground.repairs.ranking import rank
from callground.resolve import binding, expressions, members, names, type_forms
from callground.resolve.calls import CallArgs
from callground.resolve.static import parse_expression
from callground.resolve.values import Instance, LocalFunction, Values, is_none
from callground.text.edits import Edit

CODES = frozenset(
    {
        "too-many-arguments",
        "missing-argument",
        "unknown-keyword",
        "duplicate-argument",
        "positional-only-as-keyword",
    }
)
_RENAMED = 80.0
"""Score from which a keyword can be nothing but another spelling of a real one."""


def repairs(asked: Asked) -> Iterator[Repair]:
    """Ways to make the arguments fit, the best first.  None of them is verified yet."""
    signature = asked.proof.signature
    call = asked.call
    text = calltext.read(asked)
    if signature is None or call is None or text is None:
        return
    work = _Work(asked, call, text, signature.params, signature.text)
    made = {
        "unknown-keyword": work.unknown_keyword,
        "positional-only-as-keyword": work.positional_only,
        "duplicate-argument": work.duplicate,
        "too-many-arguments": work.too_many,
        "missing-argument": work.missing,
    }.get(asked.code)
    if made is not None:
        yield from made()


class _Work:
    def __init__(self, asked: Asked, call: ast.Call, text: CallText, params: tuple[Param, ...], signature: str) -> None:
        self.asked = asked
        self.call = call
        self.text = text
        self.params = params
        self.signature = signature
        self.source = asked.source.text
        self.slots = [p for p in params if p.kind in ("positional-only", "positional")]
        self._typed: set[str] = set()
        """Parameters for which a value of the declared type is in scope."""

    # -- kinds of fault

    def unknown_keyword(self) -> Iterator[Repair]:
        wrong = self.text.keyword(self.asked.name)
        if wrong is None:
            return
        free = [r for r in rank(self.asked) if r.candidate.name in self._free()]
        surplus = not self._lacking()
        best = free[0] if free else None
        alone = best is not None and (len(free) == 1 or best.score - free[1].score >= 20)
        for number, each in enumerate(free[:3]):
            certain = number == 0 and alone and each.score >= _RENAMED and self._type_fits(each.candidate.name, wrong)
            edits = [Edit(wrong.start, wrong.start + len(self.asked.name), each.candidate.name)]
            if each.near or not surplus:
                yield self._repair(
                    "rename-keyword",
                    f"Rename the keyword to `{each.candidate.name}` of {self.signature}",
                    edits,
                    each.score,
                    certain=certain,
                    ranked=each,
                )
        # A keyword that stands for nothing real: the call is whole without it.
        near = best is not None and best.near
        yield self._drop(wrong, f"`{self.asked.name}`", 60.0, certain=not near and surplus and self._ours())

    def positional_only(self) -> Iterator[Repair]:
        wrong = self.text.keyword(self.asked.name)
        only = [p.name for p in self.params if p.kind == "positional-only"]
        if wrong is None or self.asked.name not in only:
            return
        place = only.index(self.asked.name)
        given = [a for a in self.text.arguments if a.keyword is None]
        others = {a.keyword: a for a in self.text.arguments if a.keyword in only}
        if any(a.keyword == "*" for a in self.text.arguments) or len(given) + len(others) <= place:
            return
        # All positional-only ones that are given by name, in the order of the signature.
        wanted = [name for name in only[len(given) :] if name in others]
        if [only.index(name) for name in wanted] != list(range(len(given), len(given) + len(wanted))):
            return
        values = [self.source[others[name].value_start : others[name].end] for name in wanted]
        first_keyword = next((i for i, a in enumerate(self.text.arguments) if a.keyword is not None), 0)
        at_place = [self.text.arguments[first_keyword + i] for i in range(len(wanted))]
        if [a.keyword for a in at_place] == wanted:
            edits = [Edit(a.start, a.value_start, "") for a in at_place]
        elif {a.keyword for a in at_place} == set(wanted):
            edits = [Edit(a.start, a.end, value) for a, value in zip(at_place, values, strict=True)]
        else:
            edits = [
                calltext.without(self.source, self.text, i)
                for i, a in enumerate(self.text.arguments)
                if a.keyword in wanted
            ]
            edits += calltext.added_positional(self.source, self.text, ", ".join(values))
        named = ", ".join(f"`{name}`" for name in wanted)
        yield self._repair("make-positional", f"Pass {named} by position", edits, 95.0, certain=True)

    def duplicate(self) -> Iterator[Repair]:
        wrong = self.text.keyword(self.asked.name)
        if wrong is None:
            return
        place = next((i for i, p in enumerate(self.slots) if p.name == self.asked.name), -1)
        plain = self.text.positional
        moved = 0 <= place < len(plain) and not any(a.keyword == "*" for a in self.text.arguments)
        value = self.source[wrong.value_start : wrong.end]
        same = moved and self.source[plain[place].start : plain[place].end] == value
        # What stands by position has been there; the keyword was put to it.
        sure = same or value == "None" or self._ours()
        yield self._drop(wrong, f"the second `{self.asked.name}`", 80.0, certain=sure)
        if moved and not same:
            index = self.text.arguments.index(plain[place])
            edit = calltext.without(self.source, self.text, index)
            title = f"Drop the positional argument for `{self.asked.name}`"
            if len(plain) == place + 1:
                yield self._repair("drop-argument", title, [edit], 50.0)

    def too_many(self) -> Iterator[Repair]:
        plain = self.text.positional
        if any(a.keyword == "*" for a in self.text.arguments):
            return
        surplus = plain[len(self.slots) :]
        if not surplus:
            return
        keyworded = self._as_keywords(surplus)
        if keyworded is not None:
            yield keyworded
        first, last = (self.text.arguments.index(a) for a in (surplus[0], surplus[-1]))
        edits = [calltext.without(self.source, self.text, first, last)]
        shown = ", ".join(f"`{_short(self.source[a.start : a.end])}`" for a in surplus)
        certain = keyworded is None and not self._commented(surplus) and self._ours()
        yield self._repair("drop-argument", f"Drop {shown}", edits, 70.0, certain=certain)

    def missing(self) -> Iterator[Repair]:
        lacking = self._lacking()
        if not lacking:
            return
        values = {p.name: self._in_scope(p) for p in lacking}
        filled = [values[p.name] or "..." for p in lacking]
        open_ = tuple(p.name for p in lacking if values[p.name] is None)
        plain = self.text.positional
        edits: list[Edit] = []
        starred = any(a.keyword in ("*", "**") for a in self.text.arguments)
        by_position = [p for p in lacking if p.kind != "keyword-only"]
        in_a_row = not starred and [p.name for p in self.slots[len(plain) : len(plain) + len(by_position)]] == [
            p.name for p in by_position
        ]
        must = any(p.kind == "positional-only" for p in lacking)
        keywords_used = any(a.keyword not in (None, "*") for a in self.text.arguments)
        positional = in_a_row and (must or (not keywords_used and not open_))
        if positional:
            rows = [value for p, value in zip(lacking, filled, strict=True) if p in by_position]
            edits += calltext.added_positional(self.source, self.text, ", ".join(rows))
            rest = [f"{p.name}={v}" for p, v in zip(lacking, filled, strict=True) if p not in by_position]
            if rest and not self.text.arguments:
                edits = [Edit(self.text.open + 1, self.text.open + 1, ", ".join(rows + rest))]
            else:
                edits += calltext.added(self.source, self.text, rest)
        elif must:
            return
        else:
            rows = [f"{p.name}={v}" for p, v in zip(lacking, filled, strict=True)]
            edits += calltext.added(self.source, self.text, rows)
        named = ", ".join(f"`{p.name}`" for p in lacking)
        title = f"Add the required {'argument' if len(lacking) == 1 else 'arguments'} {named}"
        certain = not open_ and all(values[p.name] is not None and self._sure(p, values[p.name]) for p in lacking)
        yield self._repair("add-arguments", title, edits, 85.0, certain=certain, placeholders=open_)

    # -- parts

    def _repair(
        self,
        kind: str,
        title: str,
        edits: list[Edit],
        score: float,
        *,
        certain: bool = False,
        ranked: Ranked | None = None,
        placeholders: tuple[str, ...] = (),
    ) -> Repair:
        candidate: Candidate | None = ranked.candidate if ranked is not None else None
        reasons = ranked.reasons if ranked is not None else (f"the signature is {self.signature}",)
        change = FileEdits(self.asked.source.path, tuple(edits))
        return Repair(kind, title, (change,), reasons, score, candidate, placeholders, certain)

    def _drop(self, argument: Argument, what: str, score: float, certain: bool) -> Repair:
        index = self.text.arguments.index(argument)
        edit = calltext.without(self.source, self.text, index)
        return self._repair("drop-argument", f"Drop {what}", [edit], score, certain=certain)

    def _given(self) -> set[str]:
        given = {a.keyword for a in self.text.arguments if a.keyword not in (None, "*", "**")}
        return {str(k) for k in given} | {p.name for p in self.slots[: len(self.text.positional)]}

    def _free(self) -> set[str]:
        """Parameters that can be given by keyword and are not given yet."""
        return {p.name for p in self.params if p.kind in ("positional", "keyword-only")} - self._given()

    def _lacking(self) -> list[Param]:
        """Required parameters that nothing fills."""
        shape = binding.shape(_args(self.asked, self.call))
        lacking = {p.name for p in binding.problems(self.params, shape) if p.code == "missing-argument"}
        return [p for p in self.params if p.name in lacking]

    def _ours(self) -> bool:
        """Whether the callee is the workspace's own.

        A library may have taken the argument in another version, under another name now: leaving it out would
        change what the program does.
        """
        signature, source = self.asked.proof.signature, self.asked.source
        module = source.ask(lambda: source.evaluator.module(signature.module)) if signature is not None else None
        return module is not None and module.origin == "workspace"

    def _commented(self, arguments: tuple[Argument, ...]) -> bool:
        return "#" in self.source[arguments[0].start : self.text.close]

    def _as_keywords(self, surplus: tuple[Argument, ...]) -> Repair | None:
        """Surplus positionals given by name, where their own names say which parameters are meant."""
        free = [p for p in self.params if p.kind == "keyword-only" and p.name in self._free()]
        if not free:
            return None
        edits: list[Edit] = []
        named: list[str] = []
        for argument in surplus:
            node = next((n for n in self.call.args if self.asked.span(n)[0] == argument.start), None)
            name = node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
            match = [p for p in free if p.name == name and p.name not in named]
            if not match and len(free) == len(surplus) == 1 and self._type_says(free[0], node):
                match = free
            if not match:
                return None
            named.append(match[0].name)
            edits.append(Edit(argument.start, argument.start, f"{match[0].name}="))
        shown = ", ".join(f"`{name}`" for name in named)
        return self._repair("make-keyword", f"Pass {shown} by keyword", edits, 90.0, certain=True)

    def _type_says(self, param: Param, node: ast.expr | None) -> bool:
        """Whether the declared type, and nothing looser, is the argument's."""
        if node is None or param.annotation in (None, "Any", "object", "typing.Any"):
            return False
        return self._compatible(param, node) is True

    def _type_fits(self, name: str, argument: Argument) -> bool:
        param = next((p for p in self.params if p.name == name), None)
        node = next((k.value for k in self.call.keywords if self.asked.span(k)[0] == argument.start), None)
        return param is None or node is None or self._compatible(param, node) is not False

    def _compatible(self, param: Param, node: ast.expr) -> bool | None:
        source, scope = self.asked.source, self.asked.scope
        if scope is None:
            return None
        given = source.ask(lambda: expressions.value(source.evaluator, node, scope))
        return None if given is None else self._values_fit(param, given)

    def _values_fit(self, param: Param, given: Values) -> bool | None:
        """Whether values fit a parameter's annotation, as far as both are known."""
        if param.annotation is None:
            return None
        source = self.asked.source
        declared = source.ask(lambda: self._declared(param))
        if declared is None:
            return None
        return source.ask(lambda: binding.compatible(source.evaluator, given, declared))

    def _declared(self, param: Param) -> Values | None:
        """The values that a parameter's annotation allows, read where the callee is defined."""
        signature = self.asked.proof.signature
        node = parse_expression(param.annotation or "")
        if signature is None or node is None or not signature.module:
            return None
        ev = self.asked.source.evaluator
        module = ev.module(signature.module)
        file = next((f for f in ev.faces(module) if f.path == signature.path), None) if module else None
        if module is None or file is None:
            return None
        return type_forms.instances(ev, node, ev.module_scope(module, file))

    def _in_scope(self, param: Param) -> str | None:
        """A value in scope that has the parameter's name and may be given for it."""
        scope = self.asked.scope
        if scope is None:
            return None
        source, ev = self.asked.source, self.asked.source.evaluator
        candidates: list[tuple[str, Values | None]] = []
        flow = ev.flow(scope)
        if flow is not None and scope.kind == "function" and param.name in flow.locals:
            defs = [d for d in flow.locals[param.name] if self._before(d.node)]
            if defs:
                found = source.ask(lambda: names.from_defs(ev, frozenset(defs), scope, param.name))
                candidates.append((param.name, found))
        else:
            looked = source.ask(lambda: names.outer(ev, param.name, scope))
            if looked is not None and not looked.missing and looked.where != "builtins":
                candidates.append((param.name, looked.values))
        around = scope.enclosing_class()
        first = first_parameter(self.asked)
        if around is not None and first:
            for name in (param.name, f"_{param.name}"):
                got = source.ask(lambda n=name: members.of(ev, Instance(around.ref, is_self=True), n))  # type: ignore[misc]
                if got is not None and got.found is not None:
                    candidates.append((f"{first}.{name}", got.found))
        for text, values in candidates:
            if values is None:
                continue
            if any(isinstance(o, LocalFunction) for o in values.items) and param.annotation is None:
                continue
            fits = self._values_fit(param, values)
            if fits is not False and not _only_none(values):
                if fits is True:
                    self._typed.add(param.name)
                return text
        return None

    def _sure(self, param: Param, text: str | None) -> bool:
        """Whether a value in scope is certainly meant: of the parameter's own name, and of its declared type.

        A name alone is no proof: in two of five calls that were measured, another value had been left out.
        """
        return text == param.name and param.name in self._typed

    def _before(self, node: ast.AST | None) -> bool:
        line = getattr(node, "lineno", 0)
        return line == 0 or line < getattr(self.call, "lineno", 0) or isinstance(node, ast.arg)


def _args(asked: Asked, call: ast.Call) -> CallArgs:
    return CallArgs(tuple(call.args), tuple((k.arg, k.value) for k in call.keywords), asked.scope)


def _only_none(values: Values) -> bool:
    return bool(values.items) and all(is_none(o) for o in values.items)


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 30 else line[:27] + "..."
