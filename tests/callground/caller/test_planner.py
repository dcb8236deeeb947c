"""Requests of several steps: the whole plan, or nothing."""

from __future__ import annotations

import random

import pytest

from callground.caller.planner import clauses, distill_planner
from callground.caller.tools import ToolSpec
from word_encoder import WordEncoder

TOOLS = [ToolSpec("search_text", ["query"]), ToolSpec("open_file", ["path"]), ToolSpec("run_tests", ["path"])]

ONES = {
    "search_text": ["search for {}", "grep for {}", "look for the text {}"],
    "open_file": ["open {}", "show me the file {}", "open the file {}"],
    "run_tests": ["run the tests in {}", "execute {} with pytest", "test {}"],
}


def made(rows=120, seed=5):
    """Requests of one to three steps, and their plans."""
    chance = random.Random(seed)
    plans = {}
    while len(plans) < rows:
        parts, steps = [], []
        for number in range(chance.randint(1, 3)):
            if number and steps[-1]["tool"] == "search_text" and chance.random() < 0.5:
                parts.append(chance.choice(["open the first hit", "show me the first result"]))
                steps.append({"tool": "open_file", "args": {"path": f"${number}.path"}})
                continue
            tool = chance.choice(list(ONES))
            name = f"{chance.choice('abcdefgh')}_{chance.randint(1, 99)}"
            value = name if tool == "search_text" else f"src/{name}.py"
            parts.append(chance.choice(ONES[tool]).format(value))
            steps.append({"tool": tool, "args": {"query" if tool == "search_text" else "path": value}})
        plans[chance.choice([" and then ", ", then ", "; "]).join(parts)] = {"steps": steps}
    return plans


@pytest.fixture(scope="module")
def plans():
    return made()


@pytest.fixture(scope="module")
def planner(plans):
    return distill_planner(
        plans.__getitem__, list(plans), TOOLS, encoder=WordEncoder(), extractor_kw={"field_steps": 10}, alpha=0.2
    )


def test_clauses_end_at_joints_and_not_inside_names():
    assert clauses("open src/a.py, then run the tests in b_and_c and finally grep for x.y; stop.") == [
        "open src/a.py",
        "run the tests in b_and_c",
        "grep for x.y",
        "stop",
    ]


def test_plans_that_are_given_are_the_teachers(planner):
    fresh = made(60, seed=9)
    given = [(planner.try_plan(request), plan["steps"]) for request, plan in fresh.items()]
    given = [(plan, steps) for plan, steps in given if plan is not None]
    assert len(given) >= 20
    wrong = [plan for plan, steps in given if list(plan.steps) != steps]
    print(f"{len(wrong)} of {len(given)} plans wrong", planner.evidence)
    assert len(wrong) <= 0.2 * len(given)
    assert any(len(plan.steps) > 1 for plan, _ in given)


def test_one_step_that_is_not_known_spoils_the_plan(planner):
    known = planner.try_plan("search for a_1 and then open src/b_2.py")
    assert known is not None
    assert planner.try_plan("search for a_1 and then sing a song of your choice") is None
    assert planner.try_plan("") is None


def test_a_reference_needs_a_step_before_it(planner):
    assert planner.try_plan("open the first hit") is None


def test_plans_that_cannot_be_used_are_counted(plans):
    requests = list(plans)
    bad = {
        requests[0]: {"steps": []},
        requests[1]: {"steps": [{"tool": "open_file", "args": {"path": "$2"}}]},
        requests[2]: {"steps": [{"tool": "fly", "args": {}}]},
        requests[3]: "what",
    }

    def teacher(request):
        if request == requests[4]:
            raise OSError
        return bad.get(request, plans[request])

    made_of_it = distill_planner(teacher, requests, TOOLS, encoder=WordEncoder(), extractor_kw={"field_steps": 1})
    assert made_of_it.ledger.counts == {"not-an-answer": 2, "bad-arguments": 1, "unknown-tool": 1, "raised": 1}
    assert made_of_it.ledger.used == len(plans) - 5
