"""Where the arguments stand: a linear-chain conditional random field over the tokens of a request.

Lafferty, McCallum and Pereira 2001. One field for all tools, so that what is learnt about ``path`` of one tool helps
another's; each row sees only the labels of its own tool's arguments. Labels are O, and B and I for each argument.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from callground.caller.distill.text import KIND_WORDS, Reading
from callground.caller.heads import minimise

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[Any]

_UNREAD = "\x00"

BEST = 8
"""How many readings of a request are compared."""


class Tagged(NamedTuple):
    """A training row: the request, its tool, and a label for each token."""

    reading: Reading
    tool: str
    labels: tuple[int, ...]
    owner: int
    """The row of the teacher's that it was made from: its values are not counted as known for itself."""
    unread: frozenset[str] = frozenset()
    """Words that are not shown: a field that may lean on every word fails where a phrasing is new."""


@dataclass
class KnownValues:
    """Values that an argument has had, by words: an argument's vocabulary, as a feature."""

    words: dict[tuple[str, str], Counter[int]] = field(default_factory=dict)
    """(argument, word) -> the rows that had it (-1: the tool's own vocabulary)."""

    def add(self, argument: str, text: str, row: int) -> None:
        """Remember the words of a value; `row` is where it comes from."""
        for word in text.lower().split():
            self.words.setdefault((argument, word), Counter())[row] += 1

    def add_word(self, argument: str, word: str) -> None:
        """Remember one word that is known for good."""
        self.words.setdefault((argument, word), Counter())[-1] += 1

    def knows(self, argument: str, word: str, row: int | None) -> bool:
        """Whether another row than `row` had that word in that argument."""
        owners = self.words.get((argument, word))
        return owners is not None and (len(owners) > 1 or row not in owners)


def token_features(
    reading: Reading,
    tool: str,
    arguments: Sequence[str],
    known: KnownValues,
    row: int | None = None,
    unread: frozenset[str] = frozenset(),
) -> list[list[str]]:
    """The features of each token, as text.  A word that is `unread` gives none."""
    words = reading.words
    if unread:
        words = [_UNREAD if word in unread else word for word in words]
    kinds = [chunk.kind for chunk in reading.chunks]
    valued = [kind in KIND_WORDS or reading.chunks[i].quoted for i, kind in enumerate(kinds)]
    ranks: dict[int, tuple[int, int]] = {}
    for kind in set(kinds):
        same = [i for i, k in enumerate(kinds) if k == kind]
        for rank, i in enumerate(same):
            ranks[i] = (min(rank, 3), min(len(same) - rank - 1, 3))
    out = []
    for at, token in enumerate(reading.tokens):
        c = token.chunk
        before = reading.tokens[at - 1] if at else None
        after = reading.tokens[at + 1] if at + 1 < len(reading.tokens) else None
        feats = ["1"]
        if c < 0:
            feats += [f"p={token.text}", "punct"]
            out.append(feats)
            continue
        first = before is None or before.chunk != c
        last = after is None or after.chunk != c
        place = ("o" if last else "f") if first else ("l" if last else "m")
        kind = kinds[c] + ("q" if reading.chunks[c].quoted else "")
        left = words[c - 1] if c else "^"
        left2 = words[c - 2] if c > 1 else "^"
        right = words[c + 1] if c + 1 < len(words) else "$"
        right2 = words[c + 2] if c + 2 < len(words) else "$"
        value = "v" if valued[c] else "w"
        k = f"{kind}/{place}"
        feats += [
            f"k={k}",
            f"kt={k}|{tool}",
            f"l={left}",
            f"r={right}",
            f"l2={left2}",
            f"ll={left2} {left}",
            f"rr={right} {right2}",
            f"lk={left}|{value}{place}",
            f"rk={right}|{value}{place}",
            f"lt={left}|{tool}",
            f"n={kind}{ranks[c][0]}",
            f"m={kind}{ranks[c][1]}",
            f"nm={k}{ranks[c][0]}{ranks[c][1]}|{tool}",
            f"t={token.text.lower() if not token.text.isalnum() else ('9' if token.text.isdigit() else 'a')}/{place}",
        ]
        if before is not None and before.chunk < 0:
            feats.append(f"bp={before.text}")
        if after is not None and after.chunk < 0:
            feats.append(f"ap={after.text}")
        if not valued[c]:
            feats += [f"w={words[c]}", f"wt={words[c]}|{tool}", f"lw={left} {words[c]}"]
        word = token.text.lower()
        chunk = reading.chunks[c].text.lower()
        for argument in arguments:
            if known.knows(argument, chunk, row):
                feats += [f"g={argument}", f"g={argument}|{value}", f"g={argument}|{tool}"]
            elif known.knows(argument, word, row):
                feats += [f"gw={argument}", f"gw={argument}|{value}"]
        out.append(feats)
    return out


class _Batch(NamedTuple):
    """Rows of one tool, padded to one length."""

    inside: NDArray[np.bool_]
    """(rows, length): where there is a token."""
    gold: NDArray[np.int64]
    """(rows, length): labels, as columns of this tool."""
    columns: NDArray[np.int64]
    """The labels that this tool may use, O first."""
    by_token: tuple[NDArray[np.int64], NDArray[np.int64]]
    """Features of the tokens one after the other, and where each token's begin."""
    by_feature: tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]
    """Tokens of the features one after the other, where each feature's begin, and which features they are."""


class Tagger:
    """A trained field.  `arguments` gives every argument's name; label 2 i + 1 begins argument i, 2 i + 2 goes on."""

    def __init__(
        self,
        arguments: Sequence[str],
        by_tool: Mapping[str, Sequence[str]],
        vocabulary: Mapping[str, int],
        emissions: Floats,
        transitions: Floats,
        known: KnownValues,
        emit: Callable[[Sequence[Sequence[int]]], Floats] | None = None,
    ) -> None:
        self.arguments = tuple(arguments)
        self.by_tool = {tool: tuple(names) for tool, names in by_tool.items()}
        self.vocabulary = dict(vocabulary)
        self.emissions = emissions
        """(features + 1, labels); the last row is of zeros."""
        self.transitions = transitions
        """(labels + 1, labels); the last row is for a request's first token."""
        self.known = known
        self.emit = emit or self._emit
        """Features of each token -> (tokens, labels) scores."""
        self._columns = {tool: columns_of(names, self.arguments) for tool, names in self.by_tool.items()}

    def readings(self, reading: Reading, tool: str) -> list[tuple[float, dict[str, list[tuple[int, int]]]]]:
        """The likeliest ways to read a request: (probability, spans of each argument), best first.

        Ways that point at the same spans are one.
        """
        columns = self._columns[tool]
        if not reading.tokens or len(columns) == 1:
            return [(1.0, {})]
        features = token_features(reading, tool, self.by_tool[tool], self.known)
        vocabulary = self.vocabulary
        scores = self.emit([[vocabulary[f] for f in feats if f in vocabulary] for feats in features])[:, columns]
        moves = self.transitions[columns][:, columns] + barred(columns)
        first = self.transitions[-1][columns] + barred_first(columns)
        paths = best_paths(scores, moves, first)
        total = log_total(scores, moves, first)
        out: list[tuple[float, dict[str, list[tuple[int, int]]]]] = []
        for score, path in paths:
            spans = self._spans(reading, [int(columns[state]) for state in path])
            out.append((float(np.exp(score - total)), spans))
        return out

    def _emit(self, ids: Sequence[Sequence[int]]) -> Floats:
        return np.array([self.emissions[list(each)].sum(axis=0) for each in ids])

    def _spans(self, reading: Reading, labels: Sequence[int]) -> dict[str, list[tuple[int, int]]]:
        spans: dict[str, list[tuple[int, int]]] = {}
        for token, label in zip(reading.tokens, labels, strict=True):
            if label == 0:
                continue
            name = self.arguments[(label - 1) // 2]
            if label % 2:
                spans.setdefault(name, []).append((token.start, token.end))
            else:
                start, _ = spans[name][-1]
                spans[name][-1] = (start, token.end)
        return spans


def columns_of(names: Iterable[str], arguments: Sequence[str]) -> NDArray[np.int64]:
    """The labels that a tool with these arguments may use."""
    index = {name: i for i, name in enumerate(arguments)}
    return np.array([0] + [c for name in names for c in (2 * index[name] + 1, 2 * index[name] + 2)], dtype=np.int64)


_NEVER = -1e4


def barred(columns: NDArray[np.int64]) -> Floats:
    """What no transition may do: go on with an argument that has not begun."""
    out = np.zeros((len(columns), len(columns)))
    for j, label in enumerate(columns):
        if label and label % 2 == 0:
            for i, before in enumerate(columns):
                if before not in (label, label - 1):
                    out[i, j] = _NEVER
    return out


def barred_first(columns: NDArray[np.int64]) -> Floats:
    """The same for the first token."""
    return np.where((columns > 0) & (columns % 2 == 0), _NEVER, 0.0)


def best_paths(scores: Floats, moves: Floats, first: Floats, best: int = BEST) -> list[tuple[float, list[int]]]:
    """The `best` highest-scoring label sequences (list Viterbi), highest first."""
    length, labels = scores.shape
    value = np.full((labels, best), -np.inf)
    value[:, 0] = scores[0] + first
    back: list[NDArray[np.int64]] = []
    for t in range(1, length):
        # (from label, rank) -> to label
        options = (value[:, :, None] + moves[:, None, :]).reshape(labels * best, labels)
        order = np.argsort(-options, axis=0, kind="stable")[:best]
        value = np.take_along_axis(options, order, axis=0).T + scores[t][:, None]
        back.append(order)
    flat = value.reshape(-1)
    out = []
    for at in np.argsort(-flat, kind="stable")[:best]:
        if not flat[at] > _NEVER / 2:
            break
        label, rank = divmod(int(at), best)
        path = [label]
        for order in reversed(back):
            label, rank = divmod(int(order[rank, label]), best)
            path.append(label)
        out.append((float(flat[at]), path[::-1]))
    return out


def log_total(scores: Floats, moves: Floats, first: Floats) -> float:
    """The logarithm of the sum over all label sequences."""
    alpha = scores[0] + first
    for t in range(1, len(scores)):
        both = alpha[:, None] + moves
        top = both.max(axis=0)
        alpha = top + np.log(np.exp(both - top).sum(axis=0)) + scores[t]
    top = alpha.max()
    return float(top + np.log(np.exp(alpha - top).sum()))


# -- training


def fit_tagger(
    rows: Sequence[Tagged],
    by_tool: Mapping[str, Sequence[str]],
    known: KnownValues,
    *,
    strength: float = 2.0,
    steps: int = 60,
    rare: int = 2,
) -> Tagger:
    """The field that makes the teacher's labels likeliest, with an L2 penalty of 1 / (2 * `strength`).

    Features seen in fewer than `rare` tokens are left out.
    """
    arguments = tuple(dict.fromkeys(name for names in by_tool.values() for name in names))
    texts = [token_features(row.reading, row.tool, by_tool[row.tool], known, row.owner, row.unread) for row in rows]
    counts = Counter(name for made in texts for feats in made for name in feats if _UNREAD not in name)
    vocabulary = {name: i for i, name in enumerate(sorted(n for n, k in counts.items() if k >= rare))}
    labels = 2 * len(arguments) + 1
    batches = list(_batches(rows, texts, vocabulary, by_tool, arguments))
    size = len(vocabulary)

    def objective(flat: Floats) -> tuple[float, Floats]:
        weights = flat[: size * labels].reshape(size, labels)
        moves = flat[size * labels :].reshape(labels + 1, labels)
        gradient = flat / strength
        inner = gradient[: size * labels].reshape(size, labels)
        move_gradient = gradient[size * labels :].reshape(labels + 1, labels)
        loss = 0.5 * float((flat**2).sum()) / strength
        for batch in batches:
            loss += _likelihood(batch, weights, moves, inner, move_gradient)
        return loss, gradient

    start = np.zeros(size * labels + (labels + 1) * labels)
    found = minimise(objective, start, steps=steps, tolerance=1e-2) if batches and size else start
    emissions = np.vstack([found[: size * labels].reshape(size, labels), np.zeros((1, labels))])
    return Tagger(arguments, by_tool, vocabulary, emissions, found[size * labels :].reshape(labels + 1, labels), known)


def _batches(
    rows: Sequence[Tagged],
    texts: Sequence[Sequence[Sequence[str]]],
    vocabulary: Mapping[str, int],
    by_tool: Mapping[str, Sequence[str]],
    arguments: Sequence[str],
) -> Iterator[_Batch]:
    """Rows by tool and by like length."""
    kinds: dict[tuple[str, int], list[int]] = {}
    for i, row in enumerate(rows):
        size = len(row.labels)
        if size and by_tool[row.tool]:
            kinds.setdefault((row.tool, max(size - 1, 31).bit_length()), []).append(i)
    for (tool, _), members in kinds.items():
        columns = columns_of(by_tool[tool], arguments)
        place = {int(c): i for i, c in enumerate(columns)}
        longest = max(len(rows[i].labels) for i in members)
        inside = np.zeros((len(members), longest), dtype=bool)
        gold = np.zeros((len(members), longest), dtype=np.int64)
        pairs: list[tuple[int, int]] = []
        token = 0
        for at, i in enumerate(members):
            n = len(rows[i].labels)
            inside[at, :n] = True
            gold[at, :n] = [place[label] for label in rows[i].labels]
            for feats in texts[i]:
                pairs += [(token, vocabulary[name]) for name in feats if name in vocabulary]
                token += 1
        tokens, ids = (np.array(side, dtype=np.int64) for side in zip(*pairs, strict=True))
        order = np.argsort(ids, kind="stable")
        starts = np.flatnonzero(np.r_[True, ids[order][1:] != ids[order][:-1]])
        token_starts = np.flatnonzero(np.r_[True, tokens[1:] != tokens[:-1]])
        yield _Batch(inside, gold, columns, (ids, token_starts), (tokens[order], starts, ids[order][starts]))


def _likelihood(batch: _Batch, weights: Floats, moves: Floats, inner: Floats, move_gradient: Floats) -> float:
    """Minus the log-likelihood of a batch; adds its gradient to `inner` and `move_gradient`.

    Forward and backward in probabilities, scaled at each step (Rabiner 1989), rows side by side.
    """
    inside, gold, columns = batch.inside, batch.gold, batch.columns
    n, longest = inside.shape
    width = len(columns)
    ids, token_starts = batch.by_token
    narrow = np.ascontiguousarray(weights[:, columns])
    scores = np.add.reduceat(narrow[ids], token_starts, axis=0)
    emit = np.zeros((n, longest, width))
    emit[inside] = scores
    top = emit.max(axis=2)
    local = np.exp(emit - top[:, :, None]).transpose(1, 0, 2)
    step = moves[columns][:, columns]
    begin = moves[-1][columns]
    chance = np.exp(step + barred(columns))
    alpha = np.empty((longest, n, width))
    scale = np.ones((longest, n))
    now = local[0] * np.exp(begin + barred_first(columns))
    for t in range(longest):
        if t:
            live = inside[:, t, None]
            now = np.where(live, (alpha[t - 1] @ chance) * local[t], alpha[t - 1])
        scale[t] = now.sum(axis=1)
        alpha[t] = now / scale[t][:, None]
    loss = float(np.log(scale).sum() + top[inside].sum())
    beta = np.ones((n, width))
    marginal = np.empty((longest, n, width))
    ahead = np.zeros((longest, n, width))
    for t in range(longest - 1, -1, -1):
        marginal[t] = alpha[t] * beta
        if t:
            ahead[t] = local[t] * beta / scale[t][:, None] * inside[:, t, None]
            beta = np.where(inside[:, t, None], ahead[t] @ chance.T, beta)
    marginal /= marginal.sum(axis=2, keepdims=True)
    off = marginal.transpose(1, 0, 2)[inside]
    spots = np.arange(len(off))
    right = gold[inside]
    off[spots, right] -= 1.0
    loss -= float(scores[spots, right].sum())
    tokens, starts, features = batch.by_feature
    inner[features[:, None], columns[None, :]] += np.add.reduceat(off[tokens], starts, axis=0)
    pairs = (alpha[:-1].reshape(-1, width).T @ ahead[1:].reshape(-1, width)) * chance
    both = inside[:, 1:]
    before, after = gold[:, :-1][both], gold[:, 1:][both]
    np.subtract.at(pairs, (before, after), 1.0)
    loss -= float(step[before, after].sum()) + float(begin[gold[:, 0]].sum())
    move_gradient[columns[:, None], columns[None, :]] += pairs
    first = marginal[0].sum(axis=0)
    np.subtract.at(first, gold[:, 0], 1.0)
    move_gradient[-1, columns] += first
    return loss
