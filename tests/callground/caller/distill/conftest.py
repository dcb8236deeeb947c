from __future__ import annotations

import pytest

from callground.caller.tool_caller import distill_tool_caller
from tool_requests import make_synth, rule_teacher
from word_encoder import WordEncoder

QUICK = {"field_steps": 8}


@pytest.fixture(scope="session")
def synth():
    """(training rows, test rows, tools): made-up requests for eight tools."""
    train, test, tools = make_synth()
    return train[:180], test, tools


@pytest.fixture(scope="session")
def distilled(synth):
    """One caller for the tests that only ask it; those that change one load a copy of `saved`."""
    train, _, tools = synth
    return distill_tool_caller(
        rule_teacher, [x["text"] for x in train], tools, encoder=WordEncoder(), extractor_kw=QUICK
    )


@pytest.fixture(scope="session")
def saved(distilled, tmp_path_factory):
    folder = tmp_path_factory.mktemp("caller") / "mine"
    distilled.save(folder)
    return folder
