"""One case for each kind of quick fix: applied through pytest-lsp and through a real Neovim."""

from __future__ import annotations

SHOP = """\
class Client:
    def fetch(self, path, *, retries=2):
        \"\"\"Fetch one page.\"\"\"
        return path


def load_items(path, kind):
    return [path, kind]


def first(item, /):
    return item
"""

# (title, file, what is underlined, start of the action's title, file afterwards, preferred)
ACTIONS = [
    (
        "replace the callee",
        "import shop\n\n'😀'; shop.Client().fetch_page('x')  # c\n",
        "fetch_page",
        "Replace with `shop.Client().fetch(",
        "import shop\n\n'😀'; shop.Client().fetch('x')  # c\n",
        True,
    ),
    (
        "add an import",
        "import os\n\nprint(load_items('x', os))\n",
        "load_items",
        "Add `from shop import load_items`",
        "import os\n\nfrom shop import load_items\n\nprint(load_items('x', os))\n",
        True,
    ),
    (
        "correct an import",
        "from shop import load_itms\n\nprint(load_itms('x', 1))\n",
        "import load_itms",
        "Import `load_items` and use it",
        "from shop import load_items\n\nprint(load_items('x', 1))\n",
        True,
    ),
    (
        "rename a keyword",
        "import shop\n\nshop.Client().fetch('x', max_retries=1)\n",
        "max_retries",
        "Rename the keyword to `retries`",
        "import shop\n\nshop.Client().fetch('x', retries=1)\n",
        True,
    ),
    (
        "drop an argument",
        "import shop\n\nshop.load_items('x', 1, 2)\n",
        "2",
        "Drop `2`",
        "import shop\n\nshop.load_items('x', 1)\n",
        True,
    ),
    (
        "add what is missing",
        "import shop\n\nshop.load_items('x')\n",
        "load_items",
        "Add the required argument `kind`",
        "import shop\n\nshop.load_items('x', kind=...)\n",
        False,
    ),
    (
        "pass by position",
        "import shop\n\nshop.first(item=1)\n",
        "item",
        "Pass `item` by position",
        "import shop\n\nshop.first(1)\n",
        True,
    ),
    (
        "move to a keyword",
        "import shop\n\nretries = 3\nshop.Client().fetch('x', retries)\n",
        "retries",
        "Pass `retries` by keyword",
        "import shop\n\nretries = 3\nshop.Client().fetch('x', retries=retries)\n",
        True,
    ),
    (
        "another language's habit",
        "def f(x: list[int]):\n    return x.length()\n",
        "length",
        "Write `len(x)`",
        "def f(x: list[int]):\n    return len(x)\n",
        True,
    ),
    (
        "create a function",
        "print(qwertz_uiop(1))\n",
        "qwertz_uiop",
        "Create function `qwertz_uiop`",
        "def qwertz_uiop(number):\n    raise NotImplementedError\n\n\nprint(qwertz_uiop(1))\n",
        False,
    ),
    (
        "ignore it here",
        "import json\n\njson.qwertz_uiop(1)\n",
        "qwertz_uiop",
        "Ignore unknown-member on this line",
        "import json\n\njson.qwertz_uiop(1)  # callground: ignore[unknown-member]\n",
        False,
    ),
]
