"""The HTTP face: a real server process with a real client, and whatever the description allows."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys

import pytest

pytest.importorskip("starlette", reason="the extra `agents` is not installed")
httpx = pytest.importorskip("httpx")
schemathesis = pytest.importorskip("schemathesis")

from hypothesis import HealthCheck, settings  # noqa: E402

from callground_server.gate.engine import Engine  # noqa: E402
from callground_server.gate.http import create_app, document, page  # noqa: E402

BAD = {"code": "from app.mail import connect\nconnect('x').teleport('a')\n"}
GOOD = {"code": "from app.mail import connect\nconnect('x').send('a', 'b')\n"}


@pytest.fixture
def engine(root, cache):
    made = Engine(python=sys.executable, cache=str(cache), root=str(root), confined=True)
    yield made
    made.close()


@pytest.fixture
def serve(root):
    started = []

    def start(*options):
        process = subprocess.Popen(
            [sys.executable, "-m", "callground_server", "serve", "--port", "0", "--python", sys.executable, *options],
            cwd=root,
            env=dict(os.environ),
            stdout=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        line = process.stdout.readline()
        assert " serves " in line, line
        return line.split()[1]

    yield start
    for process in started:
        process.terminate()
        process.wait(20)
        process.stdout.close()


def test_a_real_client(serve):
    with httpx.Client(base_url=serve(), timeout=60) as client:
        assert client.get("/healthz").json()["status"] == "ok"
        answer = client.post("/verify", json=BAD)
        assert answer.status_code == 200
        data = answer.json()
        assert (data["grounded"], data["arity_errors"], data["ungrounded"][0]["code"]) == (False, [], "unknown-member")
        assert client.post("/verify", json=GOOD).json()["gate"]["passed"]
        assert client.post("/related", json={"name": "conect"}).json()["related"][0]["name"] == "connect"
        assert client.get("/openapi.json").json()["openapi"] == "3.1.0"
        assert "POST /verify" in client.get("/").text


@pytest.mark.parametrize(
    ("path", "kwargs", "status"),
    [
        ("/verify", {"json": {}}, 422),
        ("/verify", {"json": {"what": 1}}, 422),
        ("/verify", {"json": []}, 400),
        ("/verify", {"content": b"{", "headers": {"content-type": "application/json"}}, 400),
        ("/verify", {"content": b"[" * 100_000, "headers": {"content-type": "application/json"}}, 400),
        ("/verify", {"content": b"{}", "headers": {"content-type": "text/plain"}}, 415),
        ("/verify", {"json": {"code": "x" * 3_000_000}}, 413),
        ("/verify", {"json": {"code": "f()", "at": "../../etc/passwd:1"}}, 422),
        ("/verify", {"json": BAD, "headers": {"host": "evil.example"}}, 403),
        ("/related", {"json": {"name": ""}}, 422),
        ("/related", {"json": {"name": "x", "limit": 0}}, 422),
        ("/nothing", {"json": {}}, 404),
    ],
)
async def test_refused(engine, path, kwargs, status):
    async with client_of(create_app(engine)) as client:
        answer = await client.post(path, **kwargs)
    assert answer.status_code == status


def client_of(app):
    return httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://127.0.0.1:8710", timeout=120)


async def test_bearer_token(engine):
    async with client_of(create_app(engine, token="secret")) as client:
        assert (await client.post("/verify", json=GOOD)).status_code == 401
        wrong = {"Authorization": "Bearer secre"}
        assert (await client.post("/verify", json=GOOD, headers=wrong)).status_code == 401
        right = {"Authorization": "Bearer secret"}
        assert (await client.post("/verify", json=GOOD, headers=right)).status_code == 200
        assert (await client.get("/healthz")).status_code == 200


async def test_time_limit(engine):
    async with client_of(create_app(engine, limit=0.0)) as client:
        answer = await client.post("/verify", json=GOOD)
    assert (answer.status_code, "error" in answer.json()) == (503, True)


async def test_two_hundred_at_once_get_the_answers_of_the_serial_run(engine):
    requests = [{"code": f"{GOOD['code']}connect('x').send{n % 4}('a', 'b')\n"} for n in range(200)]
    async with client_of(create_app(engine, limit=100)) as client:
        serial = [(await client.post("/verify", json=request)).json() for request in requests]
        answers = await asyncio.gather(*(client.post("/verify", json=request) for request in requests))
    assert [answer.json() for answer in answers] == serial


def test_open_to_others_only_with_a_token(root, capsys, monkeypatch, tmp_path):
    from callground_server.cli.gate import main

    monkeypatch.chdir(root)
    assert main(["serve", "--host", "0.0.0.0"]) == 2
    assert "give a --token-file" in capsys.readouterr().err
    (tmp_path / "empty").write_text("\n")
    assert main(["serve", "--token-file", str(tmp_path / "empty")]) == 2
    assert main(["serve", "--token-file", str(tmp_path / "none")]) == 2


def test_the_page_needs_nothing_from_elsewhere():
    text = page(document())
    assert "src=" not in text
    assert "https://" not in text


# -- whatever the description allows, and more

_state: dict = {}


def _app(scope, receive, send):
    return _state["app"](scope, receive, send)


schema = schemathesis.openapi.from_dict(document())


@pytest.fixture
def fuzzed(engine):
    _state["app"] = create_app(engine)
    schema.app = _state["app"]
    return engine


@schema.parametrize()
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
def test_no_question_is_a_server_error(fuzzed: Engine, case):
    case.headers = {**(case.headers or {}), "host": "127.0.0.1"}
    response = case.call(app=_state["app"]) if hasattr(case, "call") else case.call_asgi(_state["app"])
    assert response.status_code < 500, response.text
    case.validate_response(response, checks=[schemathesis.checks.not_a_server_error])
