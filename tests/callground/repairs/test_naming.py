"""Names that do not exist: the real one, with the import that it needs."""

from __future__ import annotations

import pytest

from mending import dedented, mender

SHOP = """
    class Client:
        def fetch(self, path, retries=2):
            return path

        def close(self):
            pass


    def load_items(path):
        return [path]
    """

# (title, files, the file's text after the preferred repair)
PREFERRED = [
    (
        "a member with something added",
        {"shop.py": SHOP, "a.py": "from shop import Client\n\nc = Client()\nc.fetch_page('x')  # keep\n"},
        "from shop import Client\n\nc = Client()\nc.fetch('x')  # keep\n",
    ),
    (
        "a chain over several lines keeps its layout",
        {
            "shop.py": SHOP,
            "a.py": "from shop import Client\n\nx = (\n    Client()\n    # first\n    .fetchPage('x')  # last\n)\n",
        },
        "from shop import Client\n\nx = (\n    Client()\n    # first\n    .fetch('x')  # last\n)\n",
    ),
    (
        "a function of the module that is imported",
        {"shop.py": SHOP, "a.py": "import shop\n\nshop.read_items('x')\n"},
        "import shop\n\nshop.load_items('x')\n",
    ),
    (
        "a bare name in scope",
        {"a.py": "def total_price(x):\n    return x\n\n\nprint(totl_price(3))\n"},
        "def total_price(x):\n    return x\n\n\nprint(total_price(3))\n",
    ),
    (
        "a method without its self",
        {"a.py": "class A:\n    def refresh_all(self): ...\n\n    def run(self):\n        refresh_all()\n"},
        "class A:\n    def refresh_all(self): ...\n\n    def run(self):\n        self.refresh_all()\n",
    ),
    (
        "a function of the workspace that is not imported",
        {"shop.py": SHOP, "a.py": "import os\n\nprint(load_items(os.sep))\n"},
        "import os\n\nfrom shop import load_items\n\nprint(load_items(os.sep))\n",
    ),
    (
        "a module that is not imported",
        {"a.py": '"""Doc."""\n\nprint(json.dumps({}))\n'},
        '"""Doc."""\n\nimport json\n\nprint(json.dumps({}))\n',
    ),
    (
        "a module's name misspelt",
        {"a.py": "import re\n\nprint(jsn.dumps({}), re.escape('a'))\n"},
        "import json\nimport re\n\nprint(json.dumps({}), re.escape('a'))\n",
    ),
    (
        "what other files import under that name",
        {
            "b.py": "from collections import OrderedDict as OD\n\nx = OD()\n",
            "a.py": "import sys\n\ny = OD()\nprint(sys.path)\n",
        },
        "import sys\nfrom collections import OrderedDict as OD\n\ny = OD()\nprint(sys.path)\n",
    ),
    (
        "what a name usually stands for",
        {"a.py": "import sys\n\nx = defaultdict(list)\nprint(sys.path)\n"},
        "import sys\nfrom collections import defaultdict\n\nx = defaultdict(list)\nprint(sys.path)\n",
    ),
    (
        "an import and its uses",
        {"shop.py": SHOP, "a.py": "from shop import load_item, Client\n\nprint(load_item('x'), Client)\n"},
        "from shop import load_items, Client\n\nprint(load_items('x'), Client)\n",
    ),
    (
        "an import with another name in the file",
        {"shop.py": SHOP, "a.py": "from shop import load_item as li\n\nprint(li('x'))\n"},
        "from shop import load_items as li\n\nprint(li('x'))\n",
    ),
    (
        "the real name is imported already",
        {
            "shop.py": SHOP,
            "a.py": "from shop import load_items\n\n\ndef f():\n    from shop import load_itemz\n"
            "    return load_itemz('x')\n\n\nprint(load_items)\n",
        },
        "from shop import load_items\n\n\ndef f():\n    return load_items('x')\n\n\nprint(load_items)\n",
    ),
    (
        "an import that nothing uses and that stands for nothing",
        {"a.py": "from json import dumps, zzz_qqq\n\nprint(dumps({}))\n"},
        "from json import dumps\n\nprint(dumps({}))\n",
    ),
    (
        "a name that moved to another module of its package",
        {
            "pack/__init__.py": "",
            "pack/old.py": "",
            "pack/helpers.py": "def escape_markup(x):\n    return x\n",
            "a.py": "from pack.old import escape_markup\n\nprint(escape_markup('x'))\n",
        },
        "from pack.helpers import escape_markup\n\nprint(escape_markup('x'))\n",
    ),
    (
        "a method that is a function beside the class",
        {
            "shapes.py": "class Shape:\n    pass\n\n\ndef area_of(shape):\n    return 1\n",
            "a.py": "import shapes\n\ns = shapes.Shape()\nprint(s.area_of())\n",
        },
        None,
    ),
]


@pytest.mark.parametrize(("title", "files", "expected"), PREFERRED, ids=[case[0] for case in PREFERRED])
def test_preferred(tmp_path, title, files, expected):
    with mender(tmp_path, {name: dedented(text) for name, text in files.items()}) as mend:
        if expected is None:
            repair = mend.of_kind("module-function")
            assert mend.after(repair).endswith("print(shapes.area_of(s))\n")
        else:
            assert mend.after(mend.preferred()) == expected


def test_two_equally_near_names_are_offered_and_none_is_certain(tmp_path):
    text = "class A:\n    def load_a(self): ...\n\n    def load_b(self): ...\n\n\nA().load_c()\n"
    with mender(tmp_path, {"a.py": text}) as mend:
        offered = mend.offered()
        assert [r.certain for r in offered if r.kind == "replace-callee"] == [False, False]
        assert {"A().load_a", "A().load_b"} <= set(mend.ranked())


def test_the_same_name_in_two_modules_is_not_certain(tmp_path):
    files = {
        "one.py": "def parse_line(x): ...\n",
        "two.py": "def parse_line(x): ...\n",
        "a.py": "print(parse_line('x'))\n",
    }
    with mender(tmp_path, files) as mend:
        offered = [r for r in mend.offered() if r.kind == "add-import"]
        assert sorted(r.title for r in offered) == [
            "Add `from one import parse_line`",
            "Add `from two import parse_line`",
        ]
        assert not any(r.certain for r in offered)


def test_a_name_whose_arguments_do_not_bind_comes_after_one_whose_do(tmp_path):
    text = """
        class Box:
            def items(self):
                return []

            def get(self, key, default=None):
                return default


        Box().get_items("a", 0)
        """
    with mender(tmp_path, {"a.py": text}) as mend:
        assert mend.ranked()[0] == "Box().get"


def test_an_import_that_would_go_round_is_not_certain(tmp_path):
    files = {
        "a.py": "def top():\n    return helper_thing()\n",
        "b.py": "from a import top\n\n\ndef helper_thing():\n    return top\n",
    }
    with mender(tmp_path, files) as mend:
        (repair,) = [r for r in mend.offered() if r.kind == "add-import"]
        assert repair.verified
        assert not repair.certain


def test_reasons_are_kept(tmp_path):
    with mender(tmp_path, {"shop.py": dedented(SHOP), "a.py": "import shop\n\nshop.read_items('x')\n"}) as mend:
        best = mend.repairs.ranked(mend.only)[0]
        assert best.signature == "load_items(path)"
        assert any("`load` is a verb for `read`" in reason for reason in best.reasons)
        assert any("arguments bind" in reason for reason in best.reasons)


def test_suggestions_of_a_report_are_near_ones_only(tmp_path):
    with mender(tmp_path, {"a.py": "import json\n\njson.qwertz_uiop({})\n"}) as mend:
        assert mend.repairs.suggestions(mend.only) == ()
    other = tmp_path / "other"
    with mender(other, {"shop.py": dedented(SHOP), "a.py": "print(load_itms('x'))\n"}) as mend:
        (first, *_) = mend.repairs.suggestions(mend.only)
        assert first == ("load_items", "load_items(path)", "from shop import load_items")
