"""The examples of the span head: what the grammar makes, what the public sets are turned into."""

from __future__ import annotations

import json
import random
import re

import pytest

from callground.caller.tools import ToolParameter, ToolSpec
from callground.caller.training import span_commands, span_data
from callground.caller.training.__main__ import main
from callground.caller.training.span_data import Example, find, fold_of, from_grammar, load
from callground.caller.training.span_grammar import read, request
from callground.caller.training.span_templates import made_request
from callground.caller.training.span_values import fitted, said

TOOLS = read()


def test_every_template_of_the_grammar_can_be_said():
    r = random.Random(1)
    for tool in TOOLS:
        for _ in range(20):
            text, pieces = request(tool, r)
            assert not re.search(r"<\w+>", text)
            for name, piece in pieces.items():
                assert name in {each.name for each in tool.parameters}
                assert text[piece.start : piece.end].strip()


def test_the_words_of_a_value_stand_where_the_example_says():
    for example in from_grammar(3, seed=5):
        for name, (start, end) in example.spans.items():
            value = example.values[name]
            if (
                isinstance(value, str)
                and not example.tool.parameter(name).enum
                and "date" not in name
                and "time" not in name
            ):
                assert example.text[start:end] in (value, value.lower()) or ":" in value or "-" in value
    first = [example.to_json() for example in from_grammar(2, seed=5)]
    assert first == [example.to_json() for example in from_grammar(2, seed=5)]


def test_a_tool_is_in_one_fold_and_each_fold_has_tools():
    folds = {}
    for example in from_grammar(2, seed=1):
        folds.setdefault(example.fold, set()).add(example.tool.name)
    assert set(folds) == {"span", "rank", "dev"}
    assert sum(len(names) for names in folds.values()) == len({tool.name for tool in TOOLS}) == len(TOOLS)
    assert fold_of("x") == fold_of("x")


def test_a_broken_grammar_is_named(tmp_path):
    broken = tmp_path / "g.txt"
    broken.write_text("a | string | req | city | About\n")
    with pytest.raises(ValueError, match=r"g\.txt:1"):
        read(broken)
    broken.write_text("@ t | About\na | string | req | city | About\n> do <b>\n")
    with pytest.raises(ValueError, match="no parameter b"):
        read(broken)
    with pytest.raises(ValueError, match="unknown kind"):
        said("nonsense", random.Random(1))


def test_values_are_fitted_to_the_description():
    r = random.Random(2)
    share = said("percent 5 5", r)
    assert fitted(share, "percent 5 5", "number", "Rate as a decimal fraction") == 0.05
    assert fitted(share, "percent 5 5", "number", "Rate in percent") == 5.0
    day = said("date", r)
    assert fitted(day, "date", "string", "Day (YYYY-MM-DD)") == day.value
    assert fitted(day, "date", "string", "Day") == day.words


@pytest.mark.parametrize(
    ("text", "value", "wanted"),
    [
        ("Room 5 in Rome", "rome", "Rome"),
        ("pay $1,200 now", 1200, "$1,200"),
        ("on April 2nd, 2023 at", "2023-04-02", "April 2nd, 2023"),
        ("the cargo car", "car", "car"),
        ("nothing", "else", None),
        ("yes", True, None),
        ("5 of 7", 6, None),
    ],
)
def test_where_a_value_stands(text, value, wanted):
    place = find(text, value)
    assert (text[place[0] : place[1]] if place else None) == wanted


def test_the_word_is_found_before_its_part():
    assert find("the cargo car", "car") == (10, 13)


def test_seal_tools_becomes_examples(tmp_path):
    tool = {
        "api_name": "book",
        "api_description": "Books",
        "parameters": {
            "city": {"type": "str", "description": "City"},
            "nights": {"type": "int", "description": "Nights"},
            "ref": {"type": "str", "description": "Reference"},
        },
        "required": ["city"],
    }
    call = {"api": "book", "parameters": {"city": "Rome", "nights": "3", "ref": "API_call_0"}}
    (tmp_path / "tool.jsonl").write_text(json.dumps(tool) + "\n")
    for split in ("dev", "test_in_domain", "test_out_domain"):
        row = {"id": "1", "query": f"A room in Rome for 3 nights ({split})", "calling": [call]}
        (tmp_path / f"{split}.jsonl").write_text(json.dumps(row) + "\n")
    made = list(span_data.from_seal(tmp_path))
    assert len(made) == 3
    assert made[0].values == {"city": "Rome", "nights": 3}
    assert made[0].spans == {"city": (10, 14), "nights": (19, 20)}
    assert made[0].open == {"ref"}
    assert [arg.type for arg in made[0].tool.args] == ["string", "integer", "string"]
    assert made[2].fold != "span"


def test_a_request_is_made_up_for_a_documented_signature():
    args = [
        ToolParameter("level", "string", "Level (e.g., low, medium, high)"),
        ToolParameter("limit", "integer", "Most results"),
        ToolParameter("dry_run", "boolean", "Whether nothing is done", required=False),
    ]
    tool = ToolSpec("scan_host", args, description="Scans a host for open ports.")
    r = random.Random(4)
    made = [made_request(tool, "x", "span", r) for _ in range(60)]
    assert all(isinstance(example, Example) for example in made)
    for example in made:
        for name, (start, end) in example.spans.items():
            if name != "dry_run":
                assert find(example.text[start:end], example.values[name]) is not None
    said_levels = {example.values.get("level") for example in made}
    assert {"low", "medium", "high"} & said_levels
    assert {True, False} <= {example.values.get("dry_run") for example in made}


def test_the_command_writes_what_is_read_back(tmp_path, capsys):
    target = tmp_path / "examples.jsonl"
    assert main(["span-data", str(target), "--per-tool", "1"]) == 0
    rows = load(target)
    assert f"{len(rows)} examples" in capsys.readouterr().out
    assert len(rows) == len(TOOLS)
    assert rows[0] == next(from_grammar(1, 1))


def test_what_is_evaluated_on_is_left_out(tmp_path, monkeypatch):
    first = next(from_grammar(1, 1))
    monkeypatch.setattr(span_commands, "evaluation_texts", lambda folder: [first.text])
    target = tmp_path / "examples.jsonl"
    assert main(["span-data", str(target), "--per-tool", "1", "--evaluation", str(tmp_path)]) == 0
    rows = load(target)
    assert first.text not in {row.text for row in rows}
    assert len(rows) == len(TOOLS) - 1
