"""The joint choice, and the ranker's file."""

from __future__ import annotations

import math

import numpy as np
import pytest

from callground.caller.argument_candidates import Candidate
from callground.caller.argument_ranker import Ranker, RankerUnavailable

NAMES = ("score", "none")
WHOLE = {"bias": 0.0, "sum": 1.0, "least": 0.0, "count": 0.0, "several": 0.0}


def ranker(overlap=4.0):
    """Counts the score alone, directly; the hidden layer is empty."""
    zero = np.zeros((2, 1), np.float32)
    return Ranker(NAMES, zero, np.zeros(1, np.float32), np.array([0, 1, 1], np.float32), overlap, WHOLE)


def rows(*scores):
    return np.array([[score, 0] for score in scores[:-1]] + [[0, scores[-1]]], np.float32)


def test_probabilities_of_one_parameter_are_one_distribution():
    logs = ranker().log_probabilities(rows(1.0, 2.0, 0.0))
    assert np.exp(logs).sum() == pytest.approx(1)
    assert logs[1] - logs[0] == pytest.approx(1.0)


def test_the_best_is_taken():
    options = {"a": [Candidate(1, "number", 0, 1), Candidate(2, "number", 2, 3)]}
    choice = ranker().choose(options, {"a": rows(0.0, 3.0, 1.0)})["a"]
    assert choice.candidate.value == 2
    assert choice.probability == pytest.approx(math.exp(3) / (1 + math.exp(3) + math.exp(1)))


def test_leaving_out_may_be_best():
    options = {"a": [Candidate(1, "number", 0, 1)]}
    assert ranker().choose(options, {"a": rows(0.0, 3.0)})["a"].candidate is None


def test_two_parameters_do_not_take_the_same_words():
    both = [Candidate(1, "number", 0, 1), Candidate(2, "number", 2, 3)]
    options = {"a": both, "b": both}
    given = {"a": rows(3.0, 2.5, -5), "b": rows(3.0, 0.0, -5)}
    chosen = ranker().choose(options, given)
    assert (chosen["a"].candidate.value, chosen["b"].candidate.value) == (2, 1)
    alone = ranker(overlap=0.0).choose(options, given)
    assert (alone["a"].candidate.value, alone["b"].candidate.value) == (1, 1)


def test_overlapping_words_count_as_the_same():
    options = {
        "a": [Candidate("x y", "phrase", 0, 3)],
        "b": [Candidate("y", "phrase", 2, 3), Candidate("z", "phrase", 4, 5)],
    }
    chosen = ranker().choose(options, {"a": rows(5.0, 0), "b": rows(2.0, 1.0, 0.0)})
    assert chosen["b"].candidate.value == "z"


def test_no_parameters():
    assert ranker().choose({}, {}) == {}


def test_it_comes_back_from_its_file(tmp_path):
    made = ranker()
    made.save(tmp_path / "r.json")
    read = Ranker.load(tmp_path / "r.json", NAMES)
    given = rows(1.0, 2.0, 0.5)
    assert read.log_probabilities(given).tolist() == made.log_probabilities(given).tolist()
    assert read.whole == WHOLE


@pytest.mark.parametrize("content", ["", "{}", "[]", '{"features": ["score", "none"], "first": 3}'])
def test_a_broken_file_is_named(tmp_path, content):
    (tmp_path / "r.json").write_text(content)
    with pytest.raises(RankerUnavailable, match=r"r\.json"):
        Ranker.load(tmp_path / "r.json", NAMES)


def test_a_file_of_other_features_is_not_used(tmp_path):
    ranker().save(tmp_path / "r.json")
    with pytest.raises(RankerUnavailable, match="other features"):
        Ranker.load(tmp_path / "r.json", ("score", "else"))
