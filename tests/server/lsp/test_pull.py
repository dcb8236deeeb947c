"""Diagnostics on request: for editors that can be told to ask again."""

from __future__ import annotations

import asyncio

import pytest
from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException

from callground_server.features import pull
from callground_server.lsp.server import create_server
from editor import PATIENCE, Editor

API = "def connect(host): ...\n"


async def started(editor: Editor, files: dict[str, str]) -> None:
    for name, text in files.items():
        (editor.root / name).write_text(text, "utf-8")
    await editor.start()


async def test_it_is_announced_only_where_the_client_can_be_asked_again(pulled: Editor, pushed: Editor) -> None:
    await started(pulled, {"api.py": API})
    assert pulled.result is not None
    provider = pulled.result.capabilities.diagnostic_provider
    assert provider is not None
    assert provider.inter_file_dependencies
    await started(pushed, {"api.py": API})
    assert pushed.result is not None
    assert pushed.result.capabilities.diagnostic_provider is None


async def test_what_is_pulled_is_current_and_nothing_is_pushed(pulled: Editor) -> None:
    await started(pulled, {"api.py": API})
    pulled.open("client.py", "import api\n\napi.connect('x')\n")
    report = await pulled.pull("client.py")
    assert report.kind == "full"
    assert not report.items
    pulled.replace("client.py", "api.connect", "api.unreal")
    await pulled.pulls("client.py", "unreal")
    assert pulled.published == {}


async def test_an_unchanged_result_is_not_sent_again(pulled: Editor) -> None:
    await started(pulled, {"api.py": API})
    pulled.open("client.py", "import api\n\napi.unreal('x')\n")
    first = await pulled.pulls("client.py", "unreal")
    second = await pulled.pull("client.py", first.result_id)
    while second.kind != "unchanged":
        # The suggestions have become better meanwhile: at most once.
        assert first.kind == "full"
        first, second = second, await pulled.pull("client.py", second.result_id)
        await asyncio.sleep(0.2)
    pulled.replace("client.py", "api.unreal", "api.connect")
    third = await pulled.pull("client.py", first.result_id)
    assert third.kind == "full"
    assert not third.items


async def test_the_client_is_asked_again_when_another_file_changed(pulled: Editor) -> None:
    await started(pulled, {"api.py": API})
    pulled.open("api.py")
    pulled.open("client.py", "import api\n\napi.later('x')\n")
    await pulled.pulls("client.py", "later")
    before = pulled.refreshes
    pulled.splice("api.py", 0, 0, "def later(x): ...\n")
    await pulled.until(lambda: pulled.refreshes > before, "a request to pull again")
    await pulled.pulls("client.py")


async def test_a_document_that_is_not_open_has_none(pulled: Editor) -> None:
    await started(pulled, {"api.py": "unreal()\n"})
    assert not (await pulled.pull("api.py")).items


async def test_requests_that_come_together_are_all_answered(pulled: Editor) -> None:
    await started(pulled, {"api.py": API})
    pulled.open("client.py", "import api\n")
    pulls = []
    for number in range(5):
        pulled.splice("client.py", 0, 0, f"unreal_{number}()\n")
        pulls.append(asyncio.ensure_future(pulled.pull("client.py")))
    await asyncio.gather(*pulls)
    await pulled.pulls("client.py", *[f"unreal_{number}" for number in range(5)])


async def test_a_cancelled_request_is_answered_too(pulled: Editor) -> None:
    await started(pulled, {"api.py": API})
    pulled.open("client.py", "import api\n\napi.unreal('x')\n")
    params = lsp.DocumentDiagnosticParams(lsp.TextDocumentIdentifier(pulled.uri("client.py")))
    send = pulled.client.protocol.send_request_async
    request = asyncio.ensure_future(send(lsp.TEXT_DOCUMENT_DIAGNOSTIC, params, msg_id="given-up"))
    await asyncio.sleep(0)
    pulled.client.cancel_request(lsp.CancelParams(id="given-up"))
    try:
        await asyncio.wait_for(request, PATIENCE)
    except JsonRpcException as error:
        # Either it was answered in time, or it was given up with the protocol's own code.
        given_up = error.code
    else:
        given_up = lsp.LSPErrorCodes.RequestCancelled
    assert given_up == lsp.LSPErrorCodes.RequestCancelled
    await pulled.pulls("client.py", "unreal")


async def test_a_question_that_waits_too_long_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    never: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    async def wait(_: str) -> None:
        await never

    monkeypatch.setattr(pull, "BUDGET", 0.05)
    server = create_server()
    monkeypatch.setattr(server.session, "current", wait)
    pull.register_requests(server)
    answer = server.protocol.fm.features[lsp.TEXT_DOCUMENT_DIAGNOSTIC]
    with pytest.raises(JsonRpcException) as caught:
        await answer(lsp.DocumentDiagnosticParams(lsp.TextDocumentIdentifier("file:///a.py")))
    assert caught.value.code == lsp.LSPErrorCodes.ServerCancelled.value
    assert caught.value.data.retrigger_request
    server.session.stop()
