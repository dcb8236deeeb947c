"""Python out of what stands around it."""

from __future__ import annotations

import pytest

from callground.text_blocks import extract_code_block, extract_code_blocks

CODE = "import app\napp.run()"

CASES = {
    "bare": CODE,
    "bare with indentation": "    import app\n    app.run()\n",
    "fence": f"Sure!\n\n```python\n{CODE}\n```\nDone.",
    "fence with py": f"```py\n{CODE}\n```",
    "fence with upper case": f"```Python\n{CODE}\n```",
    "fence with attributes": f'```python title="a.py"\n{CODE}\n```',
    "fence with braces": f"```{{.python}}\n{CODE}\n```",
    "tildes": f"~~~python\n{CODE}\n~~~",
    "windows line ends": f"```python\n{CODE}\n```".replace("\n", "\r\n"),
    "never closed": f"Here:\n```python\n{CODE}",
    "no language": f"Here:\n```\n{CODE}\n```",
    "in a list": "- do this:\n\n  ```python\n  import app\n  app.run()\n  ```\n",
    "in a quotation": "> ```python\n> import app\n> app.run()\n> ```\n",
    "shell first": f"```bash\npip install app\n```\n\n```python\n{CODE}\n```",
    "prompts": ">>> import app\n>>> app.run()\n'output'\n",
    "prompts in a fence": "```pycon\n>>> import app\n>>> app.run()\n1\n```",
    "heredoc": f"```bash\npython - <<'EOF'\n{CODE}\nEOF\n```",
    "heredoc into a file": f"cat > a.py <<EOF\n{CODE}\nEOF\npython a.py\n",
    "heredoc with tabs": "python3 <<-END\n\timport app\n\tapp.run()\n\tEND\n",
    "prose around": f"Sure, here is the code:\n\n{CODE}\n\nThis runs the app. It's easy!\n",
}


@pytest.mark.parametrize("text", CASES.values(), ids=CASES)
def test_one_program(text):
    assert extract_code_block(text).strip() == CODE


def test_several_python_blocks_are_one_text():
    text = "First:\n```python\nimport app\n```\nthen:\n```python\napp.run()\n```\n"
    assert extract_code_block(text) == "import app\n\napp.run()\n"
    assert [block.line for block in extract_code_blocks(text)] == [3, 7]


def test_fence_inside_a_longer_fence():
    text = "````python\ndoc = '''\n```\nx\n```\n'''\n````\n"
    assert extract_code_block(text) == "doc = '''\n```\nx\n```\n'''\n"


def test_prompts_with_continuation_and_dots_in_the_output():
    text = ">>> for x in y:\n...     f(x)\n...\n1\n...\n>>> g()\n"
    assert extract_code_block(text) == "for x in y:\n    f(x)\n\ng()\n"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   \n",
        "Done",
        "I have looked at it. Nothing to do.",
        "```bash\nls\n```",
        "```json\n{}\n```",
        "Use ```x```.",
    ],
)
def test_no_python(text):
    assert extract_code_block(text) == ""


def test_half_typed_code_is_still_code():
    assert "app.run(" in extract_code_block("import app\napp.run(\n")
    assert "app.run(" in extract_code_block("```python\nimport app\napp.run(\n```")


@pytest.mark.parametrize("text", ["```" * 5000, "`" * 20000, ">>> " * 5000, "x\n\n" * 5000, "<<EOF\n" * 2000, "\x00"])
def test_odd_and_long_texts_end(text):
    assert isinstance(extract_code_block(text), str)
