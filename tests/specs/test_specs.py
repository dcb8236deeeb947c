"""Runs every literate spec: the Markdown files here, and the examples on the rules' own pages."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

import pytest

from callground.rules import RULES
from literate import Claim, Spec, claims, failures, read_specs

HERE = Path(__file__).parent
SPECS = [
    pytest.param(spec, id=f"{path.stem}:{spec.name}")
    for path in sorted(HERE.glob("*.md"))
    if path.name != "README.md"
    for spec in read_specs(path.read_text("utf-8"))
]
PAGES = [
    pytest.param(spec, id=code)
    for code in RULES
    for spec in read_specs((resources.files("callground.rules") / "pages" / f"{code}.md").read_text("utf-8"))
]


@pytest.fixture(scope="session")
def cache(tmp_path_factory):
    return tmp_path_factory.mktemp("cache")


@pytest.mark.parametrize("spec", SPECS)
def test_spec(spec, tmp_path, cache):
    assert failures(spec, tmp_path, cache) == []


@pytest.mark.parametrize("spec", PAGES)
def test_example_of_a_rules_page(spec, tmp_path, cache):
    assert failures(spec, tmp_path, cache) == []


def test_every_rule_has_a_page_with_examples():
    assert len(PAGES) == len(RULES)


TEXT = """# Title

## One

Prose.

```python
a()  # ungrounded: a
b(
    1,  # arity: missing-argument
)
# abstained: any
```

## Two

```python pkg/x.py
c()  # grounded
```

```python pkg/y.py
text = "# ungrounded: no"
d()  # ungrounded: d, e
```

## No code
"""


def test_the_harness_reads_headings_blocks_and_claims():
    one, two = read_specs(TEXT)
    assert (one.name, list(one.files), one.line) == ("One", ["main.py"], 3)
    assert list(claims("m", one.files["main.py"])) == [
        Claim("m", 1, "ungrounded", "a"),
        Claim("m", 3, "arity", "missing-argument"),
        Claim("m", 4, "abstained", "any"),
    ]
    assert list(two.files) == ["pkg/x.py", "pkg/y.py"]
    assert list(claims("y", two.files["pkg/y.py"])) == [
        Claim("y", 2, "ungrounded", "d"),
        Claim("y", 2, "ungrounded", "e"),
    ]
    assert list(claims("x", two.files["pkg/x.py"])) == [Claim("x", 1, "grounded", "")]


@pytest.mark.parametrize(
    ("code", "problem"),
    [
        ("import json\njson.parse('')\n", "main.py:2: found and not expected: unknown-member"),
        ("import json\njson.loads('')  # ungrounded: loads\n", "main.py:2: not found: ungrounded: loads"),
        ("import json\njson.parse('')  # arity: missing-argument\n", "main.py:2: not found: arity"),
        ("import json\njson.loads('')  # abstained: any\n", "main.py:2: nothing is abstained for any"),
        ("import json\njson.parse('')  # grounded # ungrounded: parse\n", "main.py:2: not grounded"),
    ],
)
def test_the_harness_fails_when_it_should(code, problem, tmp_path, cache):
    assert any(line.startswith(problem) for line in failures(Spec("x", {"main.py": code}, 1), tmp_path, cache))
