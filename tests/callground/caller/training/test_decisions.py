"""Rows for combiner, gate and calibration, and what is fitted on them, on a small made-up world."""

from __future__ import annotations

import csv
import json
import random

import pytest

from caller_fakes import Filled, WordEncoder
from callground.caller.bundled import load_calibration
from callground.caller.gate import GATE_FILE, Gate
from callground.caller.selection import COMBINER_FILE, Combiner
from callground.caller.tools import ToolParameter, ToolSpec
from callground.caller.training.decisions import Decision, _without, metatool_rows, seal_rows, toolalpaca_rows
from callground.caller.training.folds import is_decision_metatool, is_decision_seal


@pytest.fixture
def sets(tmp_path):
    """The three sets in their published shapes, with a handful of tools each."""
    root = tmp_path / "seal" / "Seal-Tools_Dataset"
    root.mkdir(parents=True)
    tools = [
        {
            "api_name": f"find{noun}",
            "api_description": f"Find a {noun}",
            "field": "Home/Things",
            "parameters": {"name": {"type": "str", "description": f"Name of the {noun}"}},
            "required": ["name"],
        }
        for noun in ("Lamp", "Chair", "Table")
    ]
    rows = [
        {"query": f"Find the lamp named Glow{n}.", "calling": [{"api": "findLamp", "parameters": {"name": f"Glow{n}"}}]}
        for n in range(12)
    ]
    rows.append({"query": "Find both.", "calling": [{"api": "findLamp"}, {"api": "findChair"}]})
    for name, lines in (("tool", tools), ("dev", rows), ("test_in_domain", []), ("test_out_domain", rows[:2])):
        (root / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    meta = tmp_path / "metatool"
    meta.mkdir()
    names = [f"Tool{n}" for n in range(12)]
    (meta / "plugin_des.json").write_text(json.dumps({name: f"It does {name}" for name in names}))
    (meta / "big_tool_des.json").write_text("{}")
    with (meta / "all_clean_data.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["Query", "Tool"])
        writer.writerows([[f"please do {name}", name] for name in names])
    alpaca = tmp_path / "toolalpaca"
    alpaca.mkdir()
    api = {
        "Name": "Cats",
        "Function_Description": {
            "getCat": 'Get a cat.\nParameters: {"id": "Required. integer. Which one.", "raw": "Boolean. As it is."}\n',
            "listCats": "List all cats.\nParameters: {}\n",
            "components": "",
        },
        "Instructions": ["Show me cat 123, please", "List all, then show 5"],
        "Golden_Answers": [
            [{"Action": "getCat", "Action_Input": '{"id": 123}'}],
            [{"Action": "listCats"}, {"Action": "getCat"}],
        ],
    }
    (alpaca / "eval_real.json").write_text(json.dumps([api]))
    return tmp_path


def test_seal_rows_are_those_of_one_call_that_the_encoder_leaves(sets):
    rows = list(seal_rows(sets, random.Random(0)))
    assert rows
    assert {row.meant for row in rows} == {"findLamp"}
    whole = {row.request for row in rows if row.complete}
    assert all(
        is_decision_seal("dev", text) or text in ("Find the lamp named Glow0.", "Find the lamp named Glow1.")
        for text in whole
    )
    for row in rows:
        names = [tool.name for tool in row.tools]
        if row.right is not None:
            assert names[row.right] == "findLamp"
        elif row.complete:
            assert "findLamp" not in names
        else:
            assert "Glow" not in row.request
            assert "findLamp" in names


def test_metatool_rows_are_of_tools_that_the_encoder_has_not_seen(sets):
    rows = list(metatool_rows(sets, random.Random(0)))
    assert rows
    assert all(is_decision_metatool(row.meant) for row in rows)


def test_toolalpaca_rows_have_their_parameters(sets):
    rows = list(toolalpaca_rows(sets, random.Random(0)))
    right = next(row for row in rows if row.right is not None)
    tool = right.tools[right.right]
    assert [(arg.name, arg.type, arg.required) for arg in tool.args] == [
        ("id", "integer", True),
        ("raw", "boolean", False),
    ]
    assert {row.request for row in rows} == {"Show me cat 123, please", "Show me cat, please"}


@pytest.mark.parametrize(
    ("request_", "value", "rest"),
    [
        ("Find rooms in New York today", "New York", "Find rooms today"),
        ("Send the message 'hi there' to Ann", "Ann", "Send the message 'hi there'"),
        ("Find it", "it", None),
        ("Find x and x", "x", None),
        ("Turn it on now", True, None),
    ],
)
def test_a_value_is_taken_out_with_the_words_that_lead_to_it(request_, value, rest):
    assert _without(request_, value) == rest


WORDS = "amber basil cedar delta ember fjord grove hazel ivory jade kelp lotus maple north olive pearl".split()


def world(lot, count):
    """Requests that name their tool's word, and the same requests without that tool."""
    tools = {word: ToolSpec(f"get_{word}", [ToolParameter("size")], description=f"Get some {word}") for word in WORDS}
    for number in range(count):
        word = WORDS[number % len(WORDS)]
        others = [tools[other] for other in lot.sample([other for other in WORDS if other != word], 3)]
        alike = tuple(tools[other] for other in WORDS if other != word)
        text = f"I want {word} number {number}"
        yield Decision(text, (others[0], tools[word], others[1]), 1, f"s{number % 2}", word, f"{word}{number}", alike)
        yield Decision(text, tuple(others), None, f"s{number % 2}", word, f"{word}{number}", alike)


def test_what_is_fitted_tells_the_right_tool_and_its_absence(tmp_path):
    pytest.importorskip("scipy", reason="the extra `training` is not installed")
    from callground.caller.training.fit_decisions import fit_all, is_calibration

    rows = list(world(random.Random(1), 260))
    encoder = WordEncoder(tmp_path)
    told = fit_all(rows, encoder, tmp_path / "out", lambda request, tool, network: Filled({"size": "1"}))
    assert told["area"] > 0.95
    assert told["rows"] == sum(map(is_calibration, rows))
    assert Combiner.load(tmp_path / "out" / COMBINER_FILE).weights["meaning"] > 0
    assert Gate.load(tmp_path / "out" / GATE_FILE).weights["meaning"] > 0
    record = load_calibration(tmp_path / "out", "tools")
    found = record.guarantee(0.1, 0.1)
    assert found is not None
    assert found.wrong / found.answered <= 0.1
    # One row for each tool that is meant, and a share of them without it.
    assert len(record.rows) == len({row.meant for row in rows if is_calibration(row)})
    assert 0.2 < sum(row.wrong for row in record.rows) / len(record.rows) < 0.6
    first = {name: (tmp_path / "out" / name).read_text() for name in (COMBINER_FILE, GATE_FILE, "calibration.json")}
    fit_all(rows, encoder, tmp_path / "again", lambda request, tool, network: Filled({"size": "1"}))
    assert {name: (tmp_path / "again" / name).read_text() for name in first} == first
