"""The promise is kept: exact bounds, and simulated worlds in which the truth is known."""

from __future__ import annotations

import math
import random
from math import comb

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from callground.caller.calibration import (
    Calibration,
    CalibrationError,
    Row,
    binomial_at_most,
    conformal_quantile,
    learn_then_test,
    make_calibration,
    one_per_group,
    upper_bound,
)


@given(st.integers(1, 60), st.data())
@settings(deadline=None)
def test_binomial_tail_is_the_sum_of_its_terms(trials, data):
    errors = data.draw(st.integers(0, trials))
    rate = data.draw(st.floats(0.001, 0.999))
    exact = math.fsum(comb(trials, k) * rate**k * (1 - rate) ** (trials - k) for k in range(errors + 1))
    assert binomial_at_most(errors, trials, rate) == pytest.approx(exact, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize(
    ("errors", "trials", "delta", "bound"),
    [
        (0, 10, 0.05, 1 - 0.05**0.1),  # closed form without errors
        (0, 299, 0.05, 1 - 0.05 ** (1 / 299)),
        (5, 100, 0.05, 0.10225),  # tables of Clopper and Pearson, one-sided 95 %
        (1, 20, 0.05, 0.21611),
        (20, 20, 0.05, 1.0),
        (0, 0, 0.05, 1.0),
    ],
)
def test_upper_bound(errors, trials, delta, bound):
    assert upper_bound(errors, trials, delta) == pytest.approx(bound, abs=2e-5)


@given(st.integers(1, 3000), st.data())
@settings(max_examples=60, deadline=None)
def test_upper_bound_is_where_the_tail_is_delta(trials, data):
    errors = data.draw(st.integers(0, trials - 1))
    delta = data.draw(st.floats(0.001, 0.5))
    bound = upper_bound(errors, trials, delta)
    assert errors / trials <= bound <= 1
    assert binomial_at_most(errors, trials, bound) == pytest.approx(delta, rel=1e-3)


def world(lot, size, slope):
    """Scores, and mistakes that are likelier the lower the score; the true error above t is known."""
    rows = []
    for _ in range(size):
        score = lot.random()
        rows.append(Row(score, lot.random() < slope * (1 - score)))
    return rows


def true_error(threshold, slope):
    """Mean of slope * (1 - s) over s uniform in [threshold, 1]."""
    return slope * (1 - threshold) / 2


@pytest.mark.parametrize(("slope", "alpha", "delta"), [(0.6, 0.1, 0.1), (0.9, 0.2, 0.05), (0.3, 0.1, 0.2)])
def test_the_promise_holds_in_the_share_of_worlds_that_delta_says(slope, alpha, delta):
    lot = random.Random(7)
    worlds, broken, answered = 200, 0, 0
    development = [lot.random() for _ in range(500)]
    for _ in range(worlds):
        found = make_calibration(world(lot, 1500, slope), development).guarantee(alpha, delta)
        if found is not None:
            answered += 1
            broken += true_error(found.threshold, slope) > alpha
    assert broken / worlds <= delta + 3 * math.sqrt(delta * (1 - delta) / worlds)
    assert answered > worlds / 2  # a promise that is kept by silence is worth nothing


def test_the_plain_rule_would_break_the_promise():
    """The lowest threshold with an empirical error of at most alpha is wrong far more often than delta."""
    lot = random.Random(7)
    worlds, broken, alpha, slope = 300, 0, 0.1, 0.6
    for _ in range(worlds):
        rows = sorted(world(lot, 250, slope), key=lambda row: -row.score)
        mistakes, best = 0, None
        for count, row in enumerate(rows, 1):
            mistakes += row.wrong
            if mistakes / count <= alpha:
                best = row.score
        broken += best is not None and true_error(best, slope) > alpha
    assert broken / worlds > 0.3


def test_nothing_is_proven_by_few_rows_or_many_mistakes():
    development = [place / 100 for place in range(100)]
    assert make_calibration([Row(0.9, False)] * 5, development).guarantee(0.1, 0.05) is None
    assert make_calibration([Row(0.9, True)] * 500, development).guarantee(0.1, 0.05) is None
    assert make_calibration([], development).guarantee(0.1, 0.05) is None


def test_a_looser_alpha_answers_more():
    lot = random.Random(1)
    record = make_calibration(world(lot, 3000, 0.6), [lot.random() for _ in range(500)])
    found = [record.guarantee(alpha) for alpha in (0.1, 0.15, 0.2, 0.3)]
    assert all(found)
    coverages = [each.coverage for each in found]
    assert coverages == sorted(coverages)
    assert all(each.bound <= each.alpha for each in found)
    assert coverages[-1] > coverages[0]


@pytest.mark.parametrize("level", [0, 1, -0.1, 2])
def test_levels_lie_between_0_and_1(level):
    with pytest.raises(ValueError, match="between 0 and 1"):
        learn_then_test([Row(1, False)], [0.5], [0], level, 0.1)
    with pytest.raises(ValueError, match="between 0 and 1"):
        learn_then_test([Row(1, False)], [0.5], [0], 0.1, level)


@given(st.lists(st.floats(0, 1), max_size=200), st.floats(0.01, 0.99))
@settings(deadline=None)
def test_the_conformal_quantile_covers(values, alpha):
    limit = conformal_quantile(values, alpha)
    if math.isfinite(limit):
        # A fresh value is as likely in each of the n + 1 gaps: those at or under the limit are enough.
        assert sum(value <= limit for value in values) >= (len(values) + 1) * (1 - alpha) - 1e-6
    else:
        assert len(values) < (len(values) + 1) * (1 - alpha) + 1e-6


def test_conformal_sets_cover_fresh_draws():
    lot = random.Random(3)
    misses = 0
    for _ in range(2000):
        limit = conformal_quantile([lot.random() for _ in range(99)], 0.1)
        misses += lot.random() > limit
    assert 0.07 < misses / 2000 < 0.13


def test_one_row_stands_for_each_group():
    groups = ["a", "b", "a", "c", "b", "a"]
    chosen = one_per_group(groups)
    assert sorted(groups[place] for place in chosen) == ["a", "b", "c"]
    assert chosen == one_per_group(groups)
    assert len({tuple(one_per_group(groups, seed)) for seed in range(20)}) > 1


def test_a_record_survives_its_file():
    lot = random.Random(5)
    record = make_calibration(world(lot, 400, 0.5), [lot.random() for _ in range(90)], about="x", conformal=[0.3, 0.1])
    again = Calibration.from_json(record.to_json())
    assert again.about == "x"
    assert again.conformal == (0.1, 0.3)
    assert [row.wrong for row in again.rows] == [row.wrong for row in record.rows]
    assert again.guarantee(0.3) is not None
    assert again.guarantee(0.3).threshold == pytest.approx(record.guarantee(0.3).threshold, abs=1e-6)


@pytest.mark.parametrize(
    "change",
    [
        {"scores": [1.0]},
        {"scores": None},
        {"grid": [0.1, 0.9]},
        {"grid": ["x"]},
        {"starts": [99]},
        {"conformal": [float("nan")]},
        {"scores": [float("inf"), 0.5]},
    ],
)
def test_a_damaged_record_is_refused(change):
    good = {"scores": [0.9, 0.5], "wrong": [0, 1], "grid": [0.9, 0.1], "starts": [0]}
    assert Calibration.from_json(good)
    with pytest.raises(CalibrationError):
        Calibration.from_json({**good, **change})
    with pytest.raises(CalibrationError):
        Calibration.from_json([])
