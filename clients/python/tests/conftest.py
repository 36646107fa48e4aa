from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field

import pytest

if os.environ.get("TOLLGATE_TEST_HTTP") == "httpx":
    # As where httpx2 isn't installed.
    sys.modules["httpx2"] = None  # type: ignore[assignment]

import json  # noqa: E402
from typing import Any  # noqa: E402


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@dataclass
class Request:
    path: str
    headers: dict[str, str]
    body: bytes
    nth: int
    """Of the token requests, or of the others, from 1 on."""

    @property
    def is_token(self) -> bool:
        return self.path == "/oauth2/token"


Respond = Callable[[Request, asyncio.StreamWriter], Awaitable[None]]


def response(
    status: int, body: object = None, headers: dict[str, str] | None = None, raw: bytes | None = None
) -> Respond:
    content = json.dumps(body).encode() if raw is None else raw
    fields = {"content-type": "application/json", "content-length": str(len(content)), **(headers or {})}
    head = f"HTTP/1.1 {status} Status\r\n" + "".join(f"{name}: {value}\r\n" for name, value in fields.items())

    async def respond(_: Request, writer: asyncio.StreamWriter) -> None:
        writer.write(head.encode() + b"\r\n" + content)
        await writer.drain()

    return respond


def refusal(status: int, code: str, headers: dict[str, str] | None = None) -> Respond:
    """As the gateway's."""
    extensions = {"code": code, "request_id": "r1", "limit": 10, "remaining": 0}
    return response(status, {"errors": [{"message": "Refused", "extensions": extensions}]}, headers)


OK = response(200, {"data": {"ok": True}}, {"x-points-cost": "1"})


async def issue(request: Request, writer: asyncio.StreamWriter) -> None:
    """Tokens `t1`, `t2`, … that live for a day."""
    token = {"access_token": f"t{request.nth}", "token_type": "bearer", "expires_in": 86_400}
    await response(200, token)(request, writer)


async def answer(request: Request, writer: asyncio.StreamWriter) -> None:
    await OK(request, writer)


async def drop(_: Request, writer: asyncio.StreamWriter) -> None:
    writer.transport.abort()


@dataclass
class BadServer:
    """A raw peer, which misbehaves as told."""

    url: str = ""
    token: Respond = issue
    call: Respond = answer
    seen: list[Request] = field(default_factory=list[Request])
    connections: set[asyncio.StreamWriter] = field(default_factory=set[asyncio.StreamWriter])

    @property
    def tokens(self) -> int:
        return sum(request.is_token for request in self.seen)

    @property
    def calls(self) -> int:
        return len(self.seen) - self.tokens

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections.add(writer)
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
                headers = {
                    name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:-2])
                }
                body = await reader.readexactly(int(headers.get("content-length", 0)))
                request = Request(head[0].split()[1], headers, body, 0)
                self.seen.append(request)
                request.nth = self.tokens if request.is_token else self.calls
                await (self.token if request.is_token else self.call)(request, writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            self.connections.discard(writer)
            writer.close()


@pytest.fixture
async def server() -> AsyncIterator[BadServer]:
    bad = BadServer()
    listener = await asyncio.start_server(bad.serve, "127.0.0.1", 0)
    bad.url = f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}"
    yield bad
    listener.close()
    for writer in list(bad.connections):
        writer.transport.abort()
    await listener.wait_closed()


NewClient = Callable[..., Any]


@pytest.fixture
async def new_client(server: BadServer) -> AsyncIterator[NewClient]:
    from tollgate_client import AsyncClient

    made: list[AsyncClient] = []

    def new(**options: Any) -> AsyncClient:
        credential = {} if "token" in options else {"client_id": "id", "client_secret": "the-client-secret"}
        made.append(AsyncClient(server.url, **{**credential, **options}))
        return made[-1]

    yield new
    for client in made:
        await client.aclose()
