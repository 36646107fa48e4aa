from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import urlsplit

import pytest
from conftest import BadServer
from websockets.asyncio.server import ServerConnection, serve
from websockets.typing import Subprotocol

from tollgate_client import AsyncClient, TransportError

pytestmark = pytest.mark.anyio


class Proxy:
    url = ""

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        method, target = head.decode().split(" ")[:2]
        self.asked.append(f"{method} {target}")
        where = urlsplit(f"//{target}" if method == "CONNECT" else target)
        try:
            onward, back = await asyncio.open_connection(where.hostname, where.port)
        except OSError:
            writer.write(b"HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\n\r\n")
            writer.close()
            return
        if method == "CONNECT":
            writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        else:
            back.write(head.replace(target.encode(), (where.path or "/").encode(), 1))
        await asyncio.gather(pipe(reader, back), pipe(onward, writer))


async def pipe(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while chunk := await reader.read(65_536):
            writer.write(chunk)
    except ConnectionError:
        pass
    finally:
        writer.close()


@pytest.fixture
async def proxy(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Proxy]:
    for name in ("NO_PROXY", "no_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy", "HTTP_PROXY"):
        monkeypatch.delenv(name, raising=False)
    own = Proxy()
    listener = await asyncio.start_server(own.serve, "127.0.0.1", 0)
    own.url = f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}"
    yield own
    listener.close()
    await listener.wait_closed()


@pytest.mark.parametrize("by", ["environment", "option"])
async def test_calls_go_through_the_proxy(
    server: BadServer, proxy: Proxy, monkeypatch: pytest.MonkeyPatch, by: str
) -> None:
    options: dict[str, Any] = {}
    if by == "environment":
        monkeypatch.setenv("http_proxy", proxy.url)
    else:
        options["proxy"] = proxy.url
    async with AsyncClient(server.url, token="t", **options) as client:
        assert (await client.request("{ ok }")).data == {"ok": True}
    assert proxy.asked == [f"POST {server.url}/graphql"]


async def test_https_and_subscriptions_ask_it_for_a_tunnel(proxy: Proxy, monkeypatch: pytest.MonkeyPatch) -> None:
    async def complete(socket: ServerConnection) -> None:
        await socket.recv()
        await socket.send('{"type":"connection_ack"}')
        await socket.recv()
        await socket.send('{"type":"complete","id":"1"}')
        await socket.wait_closed()

    monkeypatch.setenv("https_proxy", proxy.url)
    monkeypatch.setenv("http_proxy", proxy.url)
    async with serve(complete, "127.0.0.1", 0, subprotocols=[Subprotocol("graphql-transport-ws")]) as peer:
        address = f"127.0.0.1:{peer.sockets[0].getsockname()[1]}"
        async with AsyncClient(f"http://{address}", token="t") as client:
            assert [event async for event in client.subscribe("subscription { n }")] == []
        async with AsyncClient("https://does-not-exist.invalid", token="t") as client:
            with pytest.raises(TransportError):
                await client.request("mutation { ok }")
    assert proxy.asked == [f"CONNECT {address}", "CONNECT does-not-exist.invalid:443"]


async def test_the_environment_can_be_ignored(server: BadServer, proxy: Proxy, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", proxy.url)
    async with AsyncClient(server.url, token="t", trust_env=False) as client:
        await client.request("{ ok }")
    assert proxy.asked == []
