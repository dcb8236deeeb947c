"""The student: which tool (or none, or several), and its arguments, out of one vector and the words."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from callground.caller.distill.examples import NO_TOOL, SEVERAL, Prepared, known_values, tagged_rows
from callground.caller.distill.rows import fault_of
from callground.caller.distill.tagger import Tagger, fit_tagger
from callground.caller.distill.text import Reading
from callground.caller.distill.values import Writing, same
from callground.caller.heads import fit_kernel, fit_softmax, kernel, softmax
from callground.caller.tools import ToolSpec

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[Any]

ABSENT = "\x00absent"
"""Class of a choice head: the argument is left out."""

FEATURES = ("tool", "arguments")
"""What `Decision.features` holds: the tool's score, and the logarithm of the arguments' probability."""

ARGUMENTS_WEIGHT = 0.3
"""What the second counts for in `sureness`."""


@dataclass(frozen=True)
class Options:
    """Settings of the training; `selector_kw` and `extractor_kw` of `distill_tool_caller` name them."""

    width: float = 0.4
    """Of the selector's kernel, in cosine: how far an example reaches."""
    ridge: float = 0.5
    """Strength of the selector's L2 penalty."""
    basis: int = 2000
    """Examples that the selector keeps at most."""
    scale: float = 8.0
    """What the unit vectors are multiplied by for choices among values."""
    strength: float = 1.0
    """Inverse strength of the L2 penalty there."""
    field_strength: float = 2.0
    """Inverse strength of the tagger's L2 penalty."""
    field_steps: int = 30
    rare: int = 2
    """Features of the tagger that are seen less often are left out."""


class Decision(NamedTuple):
    """What the student would do, however sure it is."""

    tool: str | None
    """A tool's name; NO_TOOL; SEVERAL.  None: the request cannot be read."""
    args: dict[str, Any] | None
    """None when a required argument was not found, or when there is no tool."""
    features: tuple[float, ...]
    score: float
    """Of the tool, by the selector: about 1 beside its examples, 0 far away from all."""


@dataclass(frozen=True)
class Heads:
    """Everything that was learnt."""

    classes: tuple[str, ...]
    select: Callable[[NDArray[np.float32]], tuple[Floats, Floats]]
    """Vector -> scores of the classes, and of all choices' values one after the other."""
    basis: NDArray[np.float32]
    """(examples, width): what the selector compares with, rounded to half precision as it is stored."""
    selector: Floats
    """(examples, classes): weights of the examples."""
    reach: float
    """Width of the selector's kernel."""
    choices: Mapping[str, Mapping[str, tuple[Any, ...]]]
    """tool -> argument -> values, the first of them ABSENT where it may be left out."""
    choice_weights: Floats
    """(width + 1, all choices' values)."""
    tagger: Tagger
    writings: Mapping[str, Mapping[str, Writing]]

    def before(self, tool: str) -> list[str]:
        """The tools whose choices stand before this tool's."""
        names = list(self.choices)
        return names[: names.index(tool)]


def fit_heads(
    prepared: Prepared,
    indexes: Sequence[int],
    trained: Sequence[str],
    tools: Mapping[str, ToolSpec],
    options: Options,
    seed: int = 0,
) -> Heads:
    """Train on the examples at `indexes`; `trained` names the tools that have examples enough."""
    examples, writings = prepared.examples, prepared.writings
    inside = set(indexes)
    made = [i for i, each in enumerate(prepared.made) if all(source in inside for source in each.sources)]
    usable = [i for i in indexes if examples[i].row.tool is None or examples[i].row.tool in trained]
    made = [i for i in made if prepared.made[i].kind in (*trained, NO_TOOL, SEVERAL)]
    present = {prepared.made[i].kind for i in made} | {NO_TOOL for i in usable if examples[i].row.tool is None}
    classes = (*trained, *(c for c in (NO_TOOL, SEVERAL) if c in present))
    place = {name: i for i, name in enumerate(classes)}
    # A reason behind a request is for the tagger; the encoder reads main clauses only.
    shown = [i for i in made if not prepared.made[i].sources or prepared.made[i].kind in (NO_TOOL, SEVERAL)]
    vectors = np.vstack([examples[i].vector for i in usable] + [prepared.made_vectors[i] for i in shown]).astype(float)
    marks = np.array(
        [place[examples[i].row.tool or NO_TOOL] for i in usable] + [place[prepared.made[i].kind] for i in shown],
        dtype=np.int64,
    )
    keep = np.arange(len(marks))
    if len(marks) > options.basis:
        keep = np.sort(np.random.default_rng(seed).permutation(len(marks))[: options.basis])
    basis = vectors[keep].astype(np.float16).astype(np.float32)
    selector = fit_kernel(
        basis.astype(float),
        np.eye(len(classes))[marks[keep]],
        balanced(marks[keep], len(classes), len(usable)),
        width=options.width,
        ridge=options.ridge,
    )
    by_tool = {name: [arg for arg, writing in writings[name].items() if writing.kind == "span"] for name in trained}
    arguments = tuple(dict.fromkeys(name for names in by_tool.values() for name in names))
    known = known_values(examples, usable, tools)
    rows = tagged_rows(examples, usable, writings, by_tool, arguments, [prepared.made[i] for i in made], seed)
    tagger = fit_tagger(
        rows, by_tool, known, strength=options.field_strength, steps=options.field_steps, rare=options.rare
    )
    choices = {
        name: {
            arg: _fit_choice(prepared, [i for i in usable if examples[i].row.tool == name], arg, writing, options)
            for arg, writing in writings[name].items()
            if writing.kind == "choice"
        }
        for name in trained
    }
    values = {name: {arg: each[0] for arg, each in made_choices.items()} for name, made_choices in choices.items()}
    weights = [
        each[1] * _scaled(each[1], options.scale) for made_choices in choices.values() for each in made_choices.values()
    ]
    choice_weights = np.hstack(weights) if weights else np.zeros((vectors.shape[1] + 1, 0))

    def select(x: NDArray[np.float32]) -> tuple[Floats, Floats]:
        alike = kernel(x[None, :].astype(float), basis.astype(float), options.width)
        return (alike @ selector)[0], x @ choice_weights[:-1] + choice_weights[-1]

    return Heads(classes, select, basis, selector, options.width, values, choice_weights, tagger, writings)


def _scaled(weights: Floats, scale: float) -> Floats:
    """What turns weights for scaled vectors (and their bias) into weights for vectors."""
    return np.vstack([np.full((len(weights) - 1, 1), scale), np.ones((1, 1))])


def balanced(marks: NDArray[np.int64], classes: int, total: int) -> Floats:
    """Weights that give each class the same say: made rows and a flood of no-tool rows must not outvote a tool."""
    counts = np.bincount(marks, minlength=classes)
    out: Floats = (total / max(int((counts > 0).sum()), 1) / np.maximum(counts, 1))[marks]
    return out


def _fit_choice(
    prepared: Prepared, indexes: Sequence[int], argument: str, writing: Writing, options: Options
) -> tuple[tuple[Any, ...], Floats]:
    values: list[Any] = [ABSENT, *writing.choices] if writing.optional else list(writing.choices)
    marks = []
    for i in indexes:
        args = prepared.examples[i].row.args
        wanted = args.get(argument, ABSENT)
        marks.append(next((k for k, value in enumerate(values) if same(value, wanted)), 0))
    vectors = np.array([prepared.examples[i].vector for i in indexes], dtype=float).reshape(len(indexes), -1)
    weights = fit_softmax(
        vectors * options.scale, np.array(marks, dtype=np.int64), len(values), strength=options.strength, steps=40
    )
    return tuple(values), weights


# -- answering


def decide(heads: Heads, reading: Reading, vector: Floats, tools: Mapping[str, ToolSpec]) -> Decision:
    """What the student would do with a request."""
    scores, choice_scores = heads.select(np.asarray(vector, dtype=np.float32))
    best = int(scores.argmax())
    name, top = heads.classes[best], float(scores[best])
    if reading.cut or not reading.tokens:
        return Decision(None, None, (0.0,) * len(FEATURES), top)
    args: dict[str, Any] | None = None
    sure = 1.0
    if name not in (NO_TOOL, SEVERAL):
        args, sure = fill(heads, name, reading, choice_scores, tools[name])
    features = (top, _log(sure))
    return Decision(name, args, features, top)


def fill(
    heads: Heads, name: str, reading: Reading, choice_scores: Floats, tool: ToolSpec
) -> tuple[dict[str, Any] | None, float]:
    """The likeliest arguments that make a whole call, and how likely they are; None when there are none."""
    chosen: dict[str, Any] = {}
    sure = 1.0
    at = sum(len(values) for tool_name in heads.before(name) for values in heads.choices[tool_name].values())
    for arg, values in heads.choices[name].items():
        chances = softmax(choice_scores[at : at + len(values)])
        at += len(values)
        k = int(chances.argmax())
        sure *= float(chances[k])
        if values[k] != ABSENT:
            chosen[arg] = values[k]
    outcomes: list[tuple[dict[str, Any] | None, float]] = []
    for chance, spans in heads.tagger.readings(reading, name):
        args = _call_of(reading, spans, heads.writings[name], chosen)
        if args is not None and any(required not in args for required in tool.required):
            args = None
        for k, (known, so_far) in enumerate(outcomes):
            if (known is None) == (args is None) and (known is None or same(known, args)):
                outcomes[k] = (known, so_far + chance)
                break
        else:
            outcomes.append((args, chance))
    whole = [(args, chance) for args, chance in outcomes if args is not None]
    if not whole:
        return None, 1e-6
    args, chance = max(whole, key=lambda item: item[1])
    if args is None or fault_of(tool, args):
        return None, 1e-6
    return args, sure * min(chance, 1.0)


def _call_of(
    reading: Reading,
    spans: Mapping[str, Sequence[tuple[int, int]]],
    writings: Mapping[str, Writing],
    chosen: Mapping[str, Any],
) -> dict[str, Any] | None:
    """The arguments that a way of reading means; None where one argument would have two values."""
    args = dict(chosen)
    for name, places in spans.items():
        texts = [reading.text[start:end] for start, end in places]
        try:
            if writings[name].normaliser.endswith("list"):
                args[name] = writings[name].value(texts)
                continue
            values = [writings[name].value([text]) for text in texts]
        except ValueError:
            return None
        if any(not same(value, values[0]) for value in values[1:]):
            return None
        args[name] = values[0]
    return args


def sureness(features: Sequence[float]) -> float:
    """One number for how sure the student is of a whole call; thresholds lie on it."""
    return features[0] + ARGUMENTS_WEIGHT * features[1]


def _log(p: float) -> float:
    return math.log(min(max(p, 1e-6), 1.0 - 1e-6))


def correct(decision: Decision, tool: str | None, args: Mapping[str, Any]) -> bool:
    """Whether the teacher would have made the same call."""
    return decision.tool == tool and decision.args is not None and same(decision.args, dict(args))
