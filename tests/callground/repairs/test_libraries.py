"""Names that libraries moved or removed: what their own files say."""

from __future__ import annotations

from mending import mender

PACK = {
    "site/pack/__init__.py": (
        "from pack.core import merge_all\n\n_REMOVED = {\n    'merge_rows': 'Use `pack.merge_all` instead.',\n}\n"
    ),
    "site/pack/core.py": "from pack.text import escape\n\n\ndef merge_all(rows):\n    return escape(rows)\n",
    "site/pack/text.py": "def escape(text):\n    return text\n\n\ndef run(a, *, verbose_level=1):\n    return a\n",
}


def project(root, text):
    """The package lies in the environment's own folder, not in the workspace."""
    return {**PACK, "a.py": text, "pyproject.toml": '[tool.callground]\nroots = ["site"]\n'}


def test_the_librarys_own_text_names_the_successor(tmp_path):
    with mender(tmp_path, project(tmp_path, "import pack\n\nprint(pack.merge_rows([1]))\n")) as mend:
        best = mend.repairs.ranked(mend.only)[0]
        assert best.candidate.name == "merge_all"
        assert any("the library says: Use `pack.merge_all` instead." in reason for reason in best.reasons)
        assert mend.after(mend.preferred()) == "import pack\n\nprint(pack.merge_all([1]))\n"


def test_a_name_in_another_module_of_the_package(tmp_path):
    with mender(tmp_path, project(tmp_path, "import pack\n\nprint(pack.escape('x'))\n")) as mend:
        texts = [r.candidate.text for r in mend.repairs.ranked(mend.only)]
        assert "pack.text.escape" in texts
        assert "pack.text" in mend.after(mend.offered()[0])


def test_a_python_function_that_moved_in_the_standard_library(tmp_path):
    with mender(tmp_path, {"a.py": "from fractions import gcd\n\nprint(gcd(4, 6))\n"}) as mend:
        assert mend.after(mend.preferred()) == "from math import gcd\n\nprint(gcd(4, 6))\n"


def test_an_argument_of_a_library_is_not_dropped_unseen(tmp_path):
    """It may have another name now: `json.dumps` never took `pretty`, but who knows that?"""
    with mender(tmp_path, {"a.py": "import shlex\n\nprint(shlex.quote('x', shell=True))\n"}) as mend:
        (drop,) = [r for r in mend.offered() if r.kind == "drop-argument"]
        assert drop.verified
        assert not drop.certain
