"""The parts of distillation, each by itself."""

from __future__ import annotations

import itertools
import xml.etree.ElementTree as Tree

import numpy as np
import onnxruntime
import pytest

from callground.caller.distill.bounds import ALWAYS, differ, lowest_share, lowest_threshold
from callground.caller.distill.charts import reliability, risk_coverage
from callground.caller.distill.onnx_file import FLOAT, Node, Port, model
from callground.caller.distill.tagger import best_paths, log_total
from callground.caller.distill.text import groups_of, read
from callground.caller.distill.values import align, writing_of
from callground.caller.heads import fit_kernel, fit_softmax, kernel, minimise, softmax

# -- reading


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("rename load_user to fetchUser", "rename name to name"),
        ("run tests/unit/test_a.py", "run file"),
        ("go to __init__ now.", "go to name now."),
        ("break at line 12, please", "break at line number, please"),
        ("add an import of os.path because I want to join", "add an import of name"),
        ("move lines 3-9", "move lines numbers"),
    ],
)
def test_values_that_are_spelt_like_code_are_masked_and_reasons_cut(text, masked):
    assert read(text).masked == masked


def test_every_character_that_is_no_space_lies_in_one_token():
    text = "find `a.b_c` — in 'x y' (über_maß)!"
    reading = read(text)
    assert "".join(token.text for token in reading.tokens) == text.replace(" ", "")
    assert all(text[token.start : token.end] == token.text for token in reading.tokens)


def test_like_phrasings_of_one_tool_are_one_group():
    phrases = [frozenset(p.split()) for p in ("where is used", "hey where is used", "list callers of", "where is used")]
    one, two, three, four = groups_of(phrases, ["a", "a", "a", None])
    assert one == two
    assert len({one, three, four}) == 3


@pytest.mark.parametrize(
    ("text", "value", "normaliser", "texts"),
    [
        ("go to _private", "_private", "text", ["_private"]),
        ("find x and x", "x", "text", ["x", "x"]),
        ("find xs", "x", None, []),
        ("line 12", 12, "integer", ["12"]),
        ("twelve lines", 12, "integer", ["twelve"]),
        ("line 12", "12", "text", ["12"]),
        ("weather in paris", "Paris", "title", ["paris"]),
        ("set it to 1,200.5", 1200.5, "float", ["1,200.5"]),
        ("turn it on", True, "truth", ["on"]),
        ("line 1", True, None, []),
    ],
)
def test_values_are_found_where_the_text_says_them(text, value, normaliser, texts):
    found = align(read(text), value)
    if normaliser is None:
        assert found is None
    else:
        assert found is not None
        assert found.normaliser == normaliser
        assert [text[a:b] for a, b in found.places[0]] == texts


def test_how_an_argument_is_written_is_seen_from_its_rows():
    def writing(values, texts):
        return writing_of(values, [align(read(t), v) for t, v in zip(texts, values, strict=True)], len(values))

    assert writing(["a1", "b2", "c3"], ["x a1", "x b2", "x c3"]).kind == "span"
    choice = writing(["celsius", "celsius", "kelvin"] * 4, ["in C", "in C", "in K"] * 4)
    assert (choice.kind, choice.choices) == ("choice", ("celsius", "kelvin"))
    assert writing([f"id-{n}" for n in range(40)], ["the usual"] * 40).kind == "open"
    numbers = writing([1, 2, 3, 4], ["n 1", "n 2", "n 3", "n four"])
    assert numbers.value(["7"]) == 7
    with pytest.raises(ValueError, match="not a value"):
        numbers.value(["seventy-ish"])


# -- heads


def test_the_minimum_of_a_convex_function_is_found():
    a = np.array([[3.0, 0.5], [0.5, 0.2]])
    b = np.array([1.0, -2.0])
    found = minimise(lambda x: (float(0.5 * x @ a @ x - b @ x), a @ x - b), np.zeros(2), tolerance=1e-8)
    assert found == pytest.approx(np.linalg.solve(a, b), abs=1e-5)


def test_heads_separate_what_can_be_separated_and_know_what_is_far():
    chance = np.random.default_rng(0)
    centres = np.eye(4)[:2] * 3
    x = np.vstack([c + chance.normal(size=(30, 4)) * 0.3 for c in centres])
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    y = np.repeat([0, 1], 30)
    w = fit_softmax(x * 8, y, 2)
    assert (softmax(x * 8 @ w[:-1] + w[-1]).argmax(1) == y).all()
    k = fit_kernel(x, np.eye(2)[y], np.ones(60), width=0.4, ridge=0.5)
    assert ((kernel(x, x, 0.4) @ k).argmax(1) == y).all()
    strange = np.array([[0.0, 0.0, 0.0, 1.0]])
    assert (kernel(strange, x, 0.4) @ k).max() < 0.5 * (kernel(x, x, 0.4) @ k).max(axis=1).min()


def test_best_paths_and_total_are_those_of_trying_every_path():
    chance = np.random.default_rng(1)
    scores, moves, first = chance.normal(size=(4, 3)), chance.normal(size=(3, 3)), chance.normal(size=3)

    def value(path):
        return first[path[0]] + scores[range(4), path].sum() + sum(moves[a, b] for a, b in itertools.pairwise(path))

    every = sorted(((value(list(p)), list(p)) for p in itertools.product(range(3), repeat=4)), reverse=True)
    found = best_paths(scores, moves, first, best=5)
    assert [path for _, path in found] == [path for _, path in every[:5]]
    assert [s for s, _ in found] == pytest.approx([s for s, _ in every[:5]])
    assert log_total(scores, moves, first) == pytest.approx(np.log(np.sum(np.exp([s for s, _ in every]))))


def test_models_that_are_written_run():
    data = model(
        "t",
        [Node("MatMul", ("x", "w"), "y")],
        {"w": np.array([[1, 2], [3, 4]], dtype=np.float32)},
        [Port("x", FLOAT, ("n", 2))],
        [Port("y", FLOAT, ("n", 2))],
    )
    session = onnxruntime.InferenceSession(data, providers=["CPUExecutionProvider"])
    assert session.run(None, {"x": np.array([[1, 1]], dtype=np.float32)})[0].tolist() == [[4, 6]]


# -- bounds


def test_the_lowest_threshold_stops_where_errors_are_too_many():
    rows = [(1.0 - i / 1000, False) for i in range(200)] + [(0.5 - i / 1000, True) for i in range(50)]
    threshold = lowest_threshold(rows, 0.1, 0.05)
    assert threshold is not None
    answered = [wrong for score, wrong in rows if score >= threshold]
    assert len(answered) >= 200
    assert sum(answered) <= 0.1 * len(answered)
    assert lowest_threshold([(0.5, False)] * 20, 0.1, 0.05) is None
    assert lowest_threshold([], 0.1, 0.05) is None


def test_the_promise_holds_over_many_draws():
    """A caller whose calls are wrong with a chance of (1 - score) ** 3; alpha 0.1, delta 0.1."""
    chance = np.random.default_rng(3)
    broken = answered = 0
    for _ in range(300):
        scores = chance.uniform(size=400)
        wrong = chance.uniform(size=400) < (1 - scores) ** 3
        threshold = lowest_threshold(list(zip(scores.tolist(), wrong.tolist(), strict=True)), 0.1, 0.1)
        if threshold is None:
            continue
        answered += 1
        # The true risk above a threshold t, uniform scores: the mean of (1 - s) ** 3 over [t, 1].
        broken += (1 - threshold) ** 3 / 4 > 0.1
    print(f"broken {broken} of 300, answered in {answered}")
    assert answered > 150
    assert broken <= 0.1 * 300


def test_the_share_of_called_strangers_is_bounded():
    rows = [(i / 100, True) for i in range(100)] + [(0.0, False)] * 100
    threshold = lowest_share(rows, 0.1, 0.05)
    assert 0 < sum(score >= threshold and calls for score, calls in rows) <= 0.1 * 200
    assert lowest_share(rows[:5], 0.1, 0.05) == ALWAYS


@pytest.mark.parametrize(
    ("table", "p"),
    [((8, 10, 1, 6), 0.0350), ((3, 10, 3, 10), 1.0), ((0, 5, 5, 5), 2 / 252), ((0, 0, 3, 5), 1.0)],
)
def test_two_shares_are_compared_exactly(table, p):
    assert differ(*table) == pytest.approx(p, abs=1e-3)


# -- pictures


def test_the_pictures_show_the_evidence(distilled):
    evidence = distilled.trained.evidence
    for picture, marks in ((reliability(evidence), 1), (risk_coverage(evidence), 1)):
        root = Tree.fromstring(picture)
        assert len(root.findall(".//{http://www.w3.org/2000/svg}circle")) >= marks
    threshold = [each for each in evidence.judged if each.calls and each.score >= evidence.thresholds.call]
    assert f"{len(threshold) / len(evidence.judged):.1%} get a call" in risk_coverage(evidence)
