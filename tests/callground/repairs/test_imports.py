"""Where a new import is put, and how names leave an import."""

from __future__ import annotations

import pytest

from mending import dedented, mender

# (title, the file before, the file after the preferred repair)
PLACES = [
    ("an empty head", "print(json.dumps(1))\n", "import json\n\nprint(json.dumps(1))\n"),
    (
        "above a definition",
        "def f():\n    return json.dumps(1)\n",
        "import json\n\n\ndef f():\n    return json.dumps(1)\n",
    ),
    (
        "behind shebang and licence",
        "#!/usr/bin/env python\n# Licence.\n\nprint(json.dumps(1))\n",
        "#!/usr/bin/env python\n# Licence.\n\nimport json\n\nprint(json.dumps(1))\n",
    ),
    (
        "behind the encoding, above a comment of the code",
        "# -*- coding: utf-8 -*-\n# Prints.\nprint(json.dumps(1))\n",
        "# -*- coding: utf-8 -*-\nimport json\n\n# Prints.\nprint(json.dumps(1))\n",
    ),
    (
        "behind a docstring",
        '"""Doc."""\nprint(json.dumps(1))\n',
        '"""Doc."""\n\nimport json\n\nprint(json.dumps(1))\n',
    ),
    (
        "behind __future__",
        "from __future__ import annotations\n\nprint(json.dumps(1))\n",
        "from __future__ import annotations\n\nimport json\n\nprint(json.dumps(1))\n",
    ),
    (
        "in order",
        "import ast\nimport sys\n\nprint(json.dumps(1), ast, sys)\n",
        "import ast\nimport json\nimport sys\n\nprint(json.dumps(1), ast, sys)\n",
    ),
    (
        "plain imports before from",
        "from ast import parse\n\nprint(json.dumps(1), parse)\n",
        "import json\nfrom ast import parse\n\nprint(json.dumps(1), parse)\n",
    ),
    (
        "before first-party ones",
        "import lib\n\nprint(json.dumps(1), lib)\n",
        "import json\n\nimport lib\n\nprint(json.dumps(1), lib)\n",
    ),
    (
        "behind the last where they have no order",
        "import sys\nimport ast\n\nprint(json.dumps(1), ast, sys)\n",
        "import sys\nimport ast\nimport json\n\nprint(json.dumps(1), ast, sys)\n",
    ),
    (
        "into a list of names",
        "from lib import alpha, gamma\n\nprint(alpha, gamma, beta_two(1))\n",
        "from lib import alpha, beta_two, gamma\n\nprint(alpha, gamma, beta_two(1))\n",
    ),
    (
        "into a list over several lines",
        "from lib import (\n    alpha,  # first\n    gamma,\n)\n\nprint(alpha, gamma, zeta_one(1))\n",
        "from lib import (\n    alpha,  # first\n    gamma,\n    zeta_one,\n)\n\nprint(alpha, gamma, zeta_one(1))\n",
    ),
    (
        "through a module that is imported",
        "import lib as l\n\nprint(l.alpha, beta_two(1))\n",
        "import lib as l\n\nprint(l.alpha, l.beta_two(1))\n",
    ),
]
LIB = "alpha = 1\ngamma = 2\n\n\ndef beta_two(x):\n    return x\n\n\ndef zeta_one(x):\n    return x\n"


@pytest.mark.parametrize(("title", "before", "after"), PLACES, ids=[case[0] for case in PLACES])
def test_place(tmp_path, title, before, after):
    with mender(tmp_path, {"a.py": before, "lib.py": LIB}, raw=True) as mend:
        assert mend.after(mend.preferred()) == after


def test_windows_line_ends(tmp_path):
    before = "import ast\r\n\r\nprint(json.dumps(1), ast)\r\n"
    with mender(tmp_path, {"a.py": before}, raw=True) as mend:
        assert mend.after(mend.preferred()) == "import ast\r\nimport json\r\n\r\nprint(json.dumps(1), ast)\r\n"


def test_dots_where_the_package_writes_dots(tmp_path):
    files = {
        "pack/__init__.py": "",
        "pack/other.py": "one = 1\n",
        "pack/deep/__init__.py": "",
        "pack/deep/tools.py": "def make_thing(x):\n    return x\n",
        "pack/a.py": "from .other import one\n\nprint(make_thing(one))\n",
    }
    with mender(tmp_path, files, "pack/a.py") as mend:
        assert mend.after(mend.preferred()) == (
            "from .deep.tools import make_thing\nfrom .other import one\n\nprint(make_thing(one))\n"
        )


REMOVED = [
    ("from json import dumps, zzz_qqq\n", "from json import dumps\n"),
    ("from json import zzz_qqq, dumps\n", "from json import dumps\n"),
    ("from json import (\n    dumps,  # keep\n    zzz_qqq,\n)\n", "from json import (\n    dumps,  # keep\n    \n)\n"),
    ("from json import zzz_qqq\nfrom json import dumps\n", "from json import dumps\n"),
    ("from json import zzz_qqq; from json import dumps\n", "from json import dumps\n"),
]


@pytest.mark.parametrize(("before", "after"), REMOVED, ids=[case[0] for case in REMOVED])
def test_a_name_leaves_an_import(tmp_path, before, after):
    use = "\nprint(dumps(1))\n"
    with mender(tmp_path, {"a.py": before + use}, raw=True) as mend:
        repair = mend.preferred()
        assert repair.kind == "remove-import"
        assert mend.after(repair) == after + use


def test_a_block_is_not_left_empty(tmp_path):
    text = "def f():\n    from json import zzz_qqq\n"
    with mender(tmp_path, {"a.py": text}, raw=True) as mend:
        assert mend.after(mend.preferred()) == "def f():\n    pass\n"


def test_what_a_package_shows_is_not_dropped(tmp_path):
    """Others may import it from here: dropping it only moves the fault."""
    files = {"pack/__init__.py": "from json import zzz_qqq\n"}
    with mender(tmp_path, files, "pack/__init__.py") as mend:
        assert mend.offered() == []


def test_a_name_that_the_file_binds_otherwise_too_keeps_its_name(tmp_path):
    text = """
        from lib import beta_twoo


        def f(beta_twoo):
            return beta_twoo


        print(beta_twoo(1))
        """
    with mender(tmp_path, {"a.py": dedented(text), "lib.py": LIB}) as mend:
        assert "from lib import beta_two as beta_twoo\n" in mend.after(mend.preferred())
