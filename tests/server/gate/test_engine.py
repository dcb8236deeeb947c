"""The engine: warm, and never stale."""

from __future__ import annotations

import os
import sys
import threading
import time

import pytest

from callground_server.gate.engine import Engine, TooSlow
from projects import write_files


def codes(engine, **request):
    answer = engine.verify(request)
    return [e["code"] for key in ("ungrounded", "arity_errors", "third_party") for e in answer[key]]


USE = "from app.mail import connect\nconnect('x').send('a', 'b')\n"


def test_every_change_on_disk_counts_at_once(engine, root):
    mail = root / "app" / "mail.py"
    text = mail.read_text()
    assert codes(engine, code=USE) == []
    mail.write_text(text.replace("def send(", "def post("))
    assert codes(engine, code=USE) == ["unknown-member"]
    mail.write_text(text)
    assert codes(engine, code=USE) == []
    new = "from app.fresh import made\nmade(1)\n"
    assert codes(engine, code=new) == ["unknown-import"]
    (root / "app" / "fresh.py").write_text("def made(a): ...\n")
    assert codes(engine, code=new) == []
    (root / "app" / "fresh.py").write_text("def made(a, b): ...\n")
    assert codes(engine, code=new) == ["missing-argument"]
    (root / "app" / "fresh.py").unlink()
    assert codes(engine, code=new) == ["unknown-import"]
    deep = "from app.deep.er import x\n"
    assert codes(engine, code=deep) == ["unknown-import"]
    write_files(root, {"app/deep/__init__.py": "", "app/deep/er.py": "x = 1\n"})
    assert codes(engine, code=deep) == []
    os.rename(root / "app" / "deep", root / "app" / "other")
    assert codes(engine, code=deep) == ["unknown-import"]
    assert codes(engine, code=deep.replace("deep", "other")) == []


MODULES = ["app/a.py", "app/b.py", "app/c.py"]
TEXTS = [
    "from app.{0} import one\ndef two(x): return one(x)\n",
    "def one(x): ...\nclass K:\n    def m(self): ...\n",
    "def one(x, y): ...\nclass K:\n    def n(self): ...\n",
    "class K:\n    pass\ndef patch(): K.m = 1\n",
    "from app.{0} import K\nclass L(K):\n    def __init__(self, x): self.y = x\n",
    "from app.{0} import *\n",
    None,
]
ASKED = "from app.{0} import one, two, K, L\none(1)\ntwo(1)\nK().m()\nK().n()\nL(1).m()\nL(1).y()\n"


def plain(answer):
    """Without the reasons of abstentions: in a circle of imports they depend on where one came in."""
    del answer["abstained"]
    for verdict in answer["verdicts"]:
        del verdict["reason"], verdict["detail"]
    return answer


@pytest.mark.parametrize("seed", range(3))
def test_a_warm_engine_says_what_a_fresh_one_says(root, cache, seed):
    """Random edits on disk, plans and questions: nothing that a plan only supposed, or that was, is left over."""
    import random

    pick = random.Random(seed)
    warm = Engine(python=sys.executable, cache=str(cache), root=str(root))

    def text():
        chosen = pick.choice(TEXTS)
        return chosen.format(pick.choice("abc")) if chosen is not None else None

    for _ in range(12):
        path = root / pick.choice(MODULES)
        new = text()
        if new is not None:
            path.write_text(new)
        elif path.exists():
            path.unlink()
        plan = {name: text() for name in pick.sample(MODULES, pick.randrange(3))}
        request = {
            "code": ASKED.format(pick.choice("abc")),
            "files": plan,
            "verdicts": True,
            "repair": pick.random() < 0.3,
        }
        fresh = Engine(python=sys.executable, cache=str(cache), root=str(root))
        assert plain(warm.verify(request)) == plain(fresh.verify(request))
        fresh.close()
        time.sleep(0.01)
    warm.close()


def test_settings_count_at_once(engine, root):
    assert engine.verify({"code": "frobnicate()"})["gate"]["decision"] == "block"
    (root / "pyproject.toml").write_text('[tool.callground.gate]\nwarn = ["unknown-name"]\n')
    assert engine.verify({"code": "frobnicate()"})["gate"]["decision"] == "warn"


def test_installed_packages_count_at_once(root, tmp_path, cache):
    environment = tmp_path / "venv"
    site = environment / "lib" / f"python{sys.version_info[0]}.{sys.version_info[1]}" / "site-packages"
    site.mkdir(parents=True)
    (environment / "bin").mkdir()
    (environment / "bin" / "python").symlink_to(sys.executable)
    (environment / "pyvenv.cfg").write_text(
        f"home = {os.path.dirname(os.path.realpath(sys.executable))}\n"
        f"version = {'.'.join(map(str, sys.version_info[:3]))}\n"
    )
    engine = Engine(python=str(environment), cache=str(cache), root=str(root))
    code = "import parcel\nparcel.open_it(1)\n"
    assert codes(engine, code=code) == ["unknown-import"]
    write_files(site, {"parcel.py": "def open_it(a): ...\n", "parcel-1.0.dist-info/METADATA": "Name: parcel\n"})
    assert codes(engine, code=code) == []
    time.sleep(0.02)
    write_files(site, {"parcel.py": "def open_it(a, b): ...\n"})
    os.rename(site / "parcel-1.0.dist-info", site / "parcel-2.0.dist-info")
    assert codes(engine, code=code) == ["missing-argument"]
    engine.close()


def test_between_changes_nothing_is_listed_again(engine):
    codes(engine, code=USE)
    time.sleep(0.2)
    codes(engine, code=USE)  # what was new at the first look may have changed within the clock's tick
    watch = next(iter(engine._desks.values()))._watch
    looks = watch.full_looks
    for _ in range(5):
        codes(engine, code=USE)
    assert watch.full_looks == looks


def test_many_at_once_get_what_one_after_the_other_get(engine):
    requests = [{"code": f"{USE}connect('x').send{n % 3}('a', 'b')\nconnect({n % 2} * 'x')\n"} for n in range(200)]
    serial = [engine.verify(request) for request in requests]
    answers: list = [None] * len(requests)

    def ask(number):
        answers[number] = engine.verify(requests[number])

    threads = [threading.Thread(target=ask, args=(n,)) for n in range(len(requests))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == serial


def test_time_limit(engine):
    with pytest.raises(TooSlow):
        engine.verify({"code": USE}, limit=0.0)
    assert codes(engine, code=USE) == []


def test_signatures(engine):
    (found,) = engine.signature_of("connect")["signatures"]
    assert found == {
        "name": "connect",
        "signature": "connect(host: str, port: int = 25)",
        "file": "app/mail.py",
        "line": 12,
    }
    assert engine.signature_of("Client.send")["signatures"][0]["signature"] == "send(self, to, subject, *, cc=None)"
    (found,) = engine.signature_of("json.dumps")["signatures"]
    assert found["signature"].startswith("dumps(obj: Any, *, skipkeys: bool = False")
    missing = engine.signature_of("conect")
    assert missing["signatures"] == []
    assert [site["name"] for site in missing["related"]] == ["connect"]


def test_symbols(engine):
    assert engine.find_symbol("send")["found"][0]["name"] == "Client.send"
    assert engine.related("conect")["related"][0]["file"] == "app/mail.py"
    assert engine.health()["workspaces"][0]["warm"]


def test_several_workspaces(tmp_path, root, cache):
    other = tmp_path / "other"
    write_files(other, {"pyproject.toml": "[project]\n", "app.py": "def only_here(): ...\n"})
    engine = Engine(python=sys.executable, cache=str(cache))
    code = {"code": "from app import only_here\n"}
    assert engine.verify(code, near=str(other / "app.py"))["grounded"]
    assert not engine.verify(code, near=str(root))["grounded"]
    assert len(engine.health()["workspaces"]) == 2
    engine.close()
