"""`distill_tool_caller` and `ToolCaller`: what is answered, what is escalated, what is counted and kept."""

from __future__ import annotations

import threading
import time

import pytest

from callground.caller.tool_caller import DistillError, ToolCaller, distill_tool_caller
from callground.caller.tools import ToolSpec, ToolSpecError
from tool_requests import make_stress, rule_teacher
from word_encoder import WordEncoder


def copy_of(saved, teacher=rule_teacher, **kw):
    return ToolCaller.load(saved, teacher, encoder=WordEncoder(), **kw)


def answers(caller, rows):
    return [(row, caller.try_local(row["text"])) for row in rows]


def right(row, got):
    return got is not None and got["tool"] == row["tool"] and got["args"] == row["args"]


# -- what it knows


def test_most_requests_phrased_as_before_are_answered_and_hardly_one_is_wrong(distilled, synth):
    seen = [row for row in synth[1] if not row["unseen_phrasing"]]
    got = answers(distilled, seen)
    calls = [(row, g) for row, g in got if g is not None and g["tool"] is not None]
    assert len(calls) > 0.5 * sum(row["tool"] is not None for row in seen)
    assert sum(not right(row, g) for row, g in calls) <= 0.05 * len(calls)


def test_requests_that_no_tool_fits_get_no_call(distilled, synth):
    outside = [row for row in synth[1] if row["tool"] is None and not row["unseen_phrasing"]]
    called = [row for row, got in answers(distilled, outside) if got is not None and got["tool"] is not None]
    assert len(called) <= 0.05 * len(outside)


@pytest.mark.parametrize("kind", ["leading_underscore", "dunder", "trailing_underscore"])
def test_names_keep_their_spelling(distilled, kind):
    got = [(row, g) for row, g in answers(distilled, make_stress()[kind]) if g is not None]
    assert got
    assert sum(right(row, g) for row, g in got) >= 0.9 * len(got)


def test_a_reason_that_names_the_value_again_changes_nothing(distilled):
    rows = make_stress()["value_twice_in_text"]
    assert sum(right(row, got) for row, got in answers(distilled, rows)) >= 0.6 * len(rows)


@pytest.mark.parametrize("kind", ["two_actions_in_one_request", "missing_required_argument"])
def test_half_an_action_is_no_call(distilled, kind):
    assert not [row for row, got in answers(distilled, make_stress()[kind]) if got is not None and got["tool"]]


@pytest.mark.parametrize("request_", ["", "   ", "x " * 5000, None, 7])
def test_what_is_no_request_is_escalated(distilled, request_):
    assert distilled.try_local(request_) is None


# -- the teacher


def test_answers_that_cannot_be_used_are_left_out_with_their_reason(synth):
    bad = {
        "a": "rename_symbol",
        "b": {"tool": "rename_everything", "args": {}},
        "c": {"tool": "find_references", "args": {}},
        "d": {"tool": "find_references", "args": {"symbol": "x", "depth": 3}},
        "e": {"tool": None, "args": {"symbol": "x"}},
        "f": {"tool": "find_references", "args": {"symbol": 3}},
    }

    def teacher(text):
        if text == "g":
            raise RuntimeError("no credit left")
        if text == "h":
            raise TimeoutError
        return bad[text] if text in bad else rule_teacher(text)

    requests = [row["text"] for row in synth[0]][:80]
    caller = distill_tool_caller(
        teacher,
        [*bad, "g", "h", "", *requests, requests[0]],
        synth[2],
        encoder=WordEncoder(),
        extractor_kw={"field_steps": 2},
    )
    assert caller.ledger.used == 80
    assert caller.ledger.counts == {
        "not-an-answer": 1,
        "unknown-tool": 1,
        "bad-arguments": 4,
        "raised": 1,
        "timed-out": 1,
        "not-a-request": 1,
        "duplicate": 1,
    }
    assert caller.ledger.asked == len(bad) + 3 + 80 + 1
    assert "no credit left" in str(caller.ledger.rejected)


def test_too_little_to_learn_from_is_said(synth):
    with pytest.raises(DistillError, match="5 usable rows"):
        distill_tool_caller(rule_teacher, [row["text"] for row in synth[0][:5]], synth[2], encoder=WordEncoder())


@pytest.mark.parametrize(
    ("kw", "said"),
    [
        ({"alpha": 0}, "alpha"),
        ({"delta": 1.0}, "delta"),
        ({"new_share": 2}, "new_share"),
        ({"selector_kw": {"depth": 3}}, "selector_kw has no setting `depth`"),
        ({"selector_kw": {"field_steps": 3}}, "selector_kw has no setting `field_steps`"),
        ({"extractor_kw": {"field_steps": -1}}, "above 0"),
    ],
)
def test_settings_that_are_wrong_are_named(synth, kw, said):
    with pytest.raises(DistillError, match=said):
        distill_tool_caller(rule_teacher, [], synth[2], encoder=WordEncoder(), **kw)


def test_two_tools_of_one_name_are_refused():
    with pytest.raises(ToolSpecError, match="two tools"):
        distill_tool_caller(rule_teacher, [], [ToolSpec("a"), ToolSpec("a")], encoder=WordEncoder())


# -- serving


STRANGE = "quelle heure est-il maintenant"


def test_what_is_escalated_goes_to_the_teacher_and_is_kept(saved):
    caller = copy_of(saved, lambda text: {"tool": "find_references", "args": {"symbol": "x"}})
    assert caller.try_local("rename a") is None
    assert caller("rename a") == {"tool": "find_references", "args": {"symbol": "x"}}
    assert [(row.request, row.tool) for row in caller.harvested] == [("rename a", "find_references")]
    report = caller.report()
    assert (report["served"], report["escalated"], report["harvested"]) == (2, 2, 1)
    assert report["escalation_rate"] == 1.0


def _raises(text):
    raise ConnectionError


@pytest.mark.parametrize(
    ("teacher", "reason"),
    [
        (_raises, "raised"),
        (lambda text: "nonsense", "not-an-answer"),
        (lambda text: {"tool": "no_such_tool"}, "unknown-tool"),
        (lambda text: {"tool": "find_references", "args": {}}, "bad-arguments"),
        (lambda text: time.sleep(30), "timed-out"),
        (None, "no-teacher"),
    ],
)
def test_a_teacher_that_fails_is_counted_and_the_request_is_not_lost(saved, teacher, reason):
    caller = copy_of(saved, teacher, teacher_timeout=0.05)
    assert caller("rename a") is None
    assert caller.report()["teacher_failures"] == {reason: 1}
    assert caller.unanswered == ["rename a"]
    assert caller.harvested == []


def test_the_report_says_what_was_promised_and_per_tool_what_was_learnt(distilled):
    report = distilled.report()
    evidence = report["evidence"]
    assert evidence["emitted"] > 0
    assert evidence["error_bound"] <= evidence["alpha"]
    assert sum(tool["emitted"] for tool in report["tools"].values()) == evidence["emitted"]
    assert report["tools"]["rename_symbol"]["arguments"] == {"old_name": "span", "new_name": "span"}
    low, high = report["whole_call_error"]["interval"]
    assert low <= report["whole_call_error"]["rate"] <= high


def test_checks_against_the_teacher_count(saved, synth):
    caller = copy_of(saved)
    agreed = [caller.check(row["text"]) for row in synth[1][:60]]
    checked = [each for each in agreed if each is not None]
    report = caller.report()
    assert report["checked"] == len(checked) > 0
    assert report["harvested"] == 60


def test_many_threads_ask_at_once(saved, synth):
    caller = copy_of(saved)
    texts = [row["text"] for row in synth[1][:40]]
    alone = [caller.try_local(text) for text in texts]
    together: dict[int, list] = {}

    def work(number):
        together[number] = [caller(text) and caller.try_local(text) for text in texts]

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(got == alone for got in together.values())
    assert caller.report()["served"] == 40 + 4 * 40 * 2


def test_the_harvest_is_bounded(saved, monkeypatch):
    monkeypatch.setattr("callground.caller.tool_caller.MOST_HARVESTED", 5)
    caller = copy_of(saved, lambda text: {"tool": None})
    for number in range(8):
        caller("q" * (number + 3))
    assert [row.request for row in caller.harvested] == ["q" * n for n in range(6, 11)]
    assert caller.report()["harvest_dropped"] == 3


# -- learning on


def test_health_notices_traffic_of_another_kind(saved, synth):
    caller = copy_of(saved)
    assert caller.health().drifting is False
    for number in range(150):
        caller.try_local(f"zzz {number} qqq")
    health = caller.health()
    assert health.drifting
    assert health.requests == 150


def test_improve_takes_the_harvest_in_or_says_why_not(saved, synth):
    caller = copy_of(saved)
    assert caller.improve().why == "nothing was harvested"
    for row in synth[1][:60]:
        caller(row["text"])
    before = len(caller.harvested)
    assert before > 0
    found = caller.improve()
    assert found.before["rows"] == found.after["rows"] == 180 + before
    if found.promoted:
        assert found.after["right"] >= found.before["right"]
        assert caller.harvested == []
    else:
        assert len(caller.harvested) == before


def test_a_harvest_that_makes_it_worse_is_not_served(saved, synth):
    def liar(text):
        return {"tool": "search_text", "args": {"query": text}}

    caller = copy_of(saved, liar)
    for row in synth[0][:120]:
        caller.check(row["text"] + "!")
    served = caller.trained
    found = caller.improve()
    assert not found.promoted
    assert "instead of" in found.why
    assert caller.trained is served


def test_a_tool_can_be_added_without_asking_the_teacher_again(saved):
    caller = copy_of(saved, _raises)
    examples = [(f"close the file src/part{n}.py", {"path": f"src/part{n}.py"}) for n in range(12)]
    ledger = caller.add_tool(ToolSpec("close_file", ["path"]), [*examples, ("close it", {})])
    assert ledger.counts == {"bad-arguments": 1}
    assert caller.try_local("close the file app/other.py") == {"tool": "close_file", "args": {"path": "app/other.py"}}


def test_a_tool_with_few_examples_is_left_to_the_zero_shot_caller(synth):
    class Always:
        def propose(self, request):
            if request.startswith("undo"):
                return "undo", {}, 0.9
            return None

    rare = [f"undo the last {n} edits" for n in range(1, 8)]
    often = [f"undo {n} things" for n in range(60)]

    def teacher(text):
        return {"tool": "undo", "args": {}} if text in rare else rule_teacher(text)

    requests = [row["text"] for row in synth[0]][:120]
    kw = {"encoder": WordEncoder(), "extractor_kw": {"field_steps": 2}, "zero_shot": Always()}
    tools = [*synth[2], {"name": "undo", "args": []}]
    caller = distill_tool_caller(teacher, [*requests, *rare], tools, **kw)
    assert "undo" not in caller.trained.learnt
    # Seven right proposals prove nothing at alpha 0.1: it stays silent.
    assert caller.try_local("undo 9 edits") is None
    sure = distill_tool_caller(teacher, [*requests, *rare], tools, alpha=0.6, delta=0.2, **kw)
    assert sure.try_local("undo 9 edits") == {"tool": "undo", "args": {}}
    assert often
