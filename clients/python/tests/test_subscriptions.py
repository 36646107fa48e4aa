from __future__ import annotations

import asyncio
import json
import logging
import os
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field

import pytest
from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.exceptions import ConnectionClosed
from websockets.typing import Subprotocol

from tollgate_client import (
    AccessDeniedError,
    AsyncClient,
    AuthenticationError,
    PlanError,
    SubscriptionEvent,
    TollgateError,
    TransportError,
    UnavailableError,
)
from tollgate_client._subscriptions import reconnect_delay

pytestmark = pytest.mark.anyio


@dataclass
class Connection:
    socket: ServerConnection
    at: float
    ids: list[str] = field(default_factory=list[str])
    completed: list[str] = field(default_factory=list[str])

    async def next(self, own_id: str, n: int) -> None:
        await self.socket.send(json.dumps({"id": own_id, "type": "next", "payload": {"data": {"n": n}}}))


Act = Callable[[Connection, int, str], Awaitable[None]]


class Peer:
    """Acknowledges, and then does as told with each socket in turn."""

    def __init__(self) -> None:
        self.tokens: list[str] = []
        self.connections: list[Connection] = []
        self.on_init: Callable[[Connection], Awaitable[bool]] | None = None
        self.act: Act | None = None

    async def handle(self, socket: ServerConnection) -> None:
        own = Connection(socket, time.monotonic())
        self.connections.append(own)
        nth = len(self.connections)
        try:
            async for text in socket:
                message = json.loads(text)
                if message["type"] == "connection_init":
                    self.tokens.append(message["payload"]["Authorization"])
                    if self.on_init is None or await self.on_init(own):
                        await socket.send('{"type":"connection_ack"}')
                elif message["type"] == "subscribe":
                    own.ids.append(message["id"])
                    if self.act is not None:
                        await self.act(own, nth, message["id"])
                elif message["type"] == "complete":
                    own.completed.append(message["id"])
        except ConnectionClosed:
            pass


@pytest.fixture
async def peer() -> AsyncIterator[Peer]:
    yield Peer()


@pytest.fixture
async def listener(peer: Peer) -> AsyncIterator[Server]:
    async with serve(peer.handle, "127.0.0.1", 0, subprotocols=[Subprotocol("graphql-transport-ws")]) as server:
        yield server


@pytest.fixture
async def new_client(listener: Server) -> AsyncIterator[Callable[[], AsyncClient]]:
    made: list[AsyncClient] = []
    asked = 0
    context = ssl.create_default_context()

    async def token() -> str:
        nonlocal asked
        asked += 1
        return f"t{asked}"

    def new() -> AsyncClient:
        url = f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}"
        # To load the authorities for each of a hundred takes seconds.
        made.append(AsyncClient(url, token=token, ssl_context=context))
        return made[-1]

    yield new
    await asyncio.gather(*(client.aclose() for client in made))


async def take(count: int, events: AsyncIterable[SubscriptionEvent]) -> list[object]:
    """Numbers, and the reasons of gaps."""
    taken: list[object] = []
    async for event in events:
        if event.gap is not None:
            assert event.gap.start <= event.gap.end
        taken.append(event.data["n"] if event.gap is None else event.gap.reason)
        if len(taken) == count:
            break
    return taken


async def eventually(holds: Callable[[], bool]) -> None:
    async def wait() -> None:
        while not holds():  # noqa: ASYNC110
            await asyncio.sleep(0.01)

    await asyncio.wait_for(wait(), 20)


async def send_nth(connection: Connection, nth: int, own_id: str) -> None:
    await connection.next(own_id, nth)


NewClient = Callable[[], AsyncClient]


async def test_after_4401_it_connects_once_with_a_fresh_token_and_tells_the_gap(
    peer: Peer, new_client: NewClient
) -> None:
    async def act(connection: Connection, nth: int, own_id: str) -> None:
        await connection.next(own_id, nth)
        if nth == 1:
            await connection.socket.close(4401, "unauthorized: The token has expired")

    peer.act = act
    assert await take(3, new_client().subscribe("subscription { n }")) == [1, "unauthorized", 2]
    assert peer.tokens == ["Bearer t1", "Bearer t2"]


async def test_a_second_4401_is_final(peer: Peer, new_client: NewClient) -> None:
    async def refuse(connection: Connection) -> bool:
        await connection.socket.close(4401, "unauthorized: No")
        return False

    peer.on_init = refuse
    with pytest.raises(AuthenticationError):
        await take(1, new_client().subscribe("subscription { n }"))
    assert peer.tokens == ["Bearer t1", "Bearer t2"]


@pytest.mark.parametrize(
    ("close_code", "code", "kind"),
    [
        (4403, "account_blocked", AccessDeniedError),
        (4429, "points_limit_exceeded", PlanError),
        (1011, "internal_error", UnavailableError),
    ],
)
async def test_other_closes_are_final(
    peer: Peer, new_client: NewClient, close_code: int, code: str, kind: type[TollgateError]
) -> None:
    async def act(connection: Connection, nth: int, own_id: str) -> None:
        await connection.socket.close(close_code, f"{code}: Sorry")

    peer.act = act
    with pytest.raises(kind) as caught:
        await take(1, new_client().subscribe("subscription { n }"))
    assert (caught.value.code, str(caught.value), len(peer.connections)) == (code, "Sorry", 1)


@pytest.mark.parametrize(
    ("close_code", "reason", "code"),
    [
        (1012, "service_restart: Reconnect", "service_restart"),
        (1013, "service_unavailable: Later", "service_unavailable"),
        (1000, "", "connection_failed"),
        (None, "", "connection_failed"),
    ],
)
async def test_every_subscription_resumes_and_is_told_the_gap(
    peer: Peer, new_client: NewClient, close_code: int | None, reason: str, code: str
) -> None:
    async def act(connection: Connection, nth: int, own_id: str) -> None:
        await connection.next(own_id, nth)
        if nth == 1 and len(connection.ids) == 2:
            if close_code is None:
                connection.socket.transport.abort()
            else:
                await connection.socket.close(close_code, reason)

    peer.act = act
    client = new_client()
    streams = [client.subscribe(f"subscription {{ {name} }}") for name in "ab"]
    seen = await asyncio.gather(*(take(3, stream) for stream in streams))
    expected: list[object] = [1, code, 2]
    if close_code is None:
        # What was on its way when the connection broke may be lost.
        assert all(each[-1] == 2 or each[-2] == code for each in seen)
    else:
        assert seen == [expected, expected]
    assert len(peer.connections) == 2


async def test_clients_of_a_gateway_that_restarts_come_back_over_at_least_five_seconds(
    peer: Peer, new_client: NewClient
) -> None:
    peer.act = send_nth
    clients = [new_client() for _ in range(100)]
    taking = [asyncio.create_task(take(3, client.subscribe("subscription { n }"))) for client in clients]
    await eventually(lambda: sum(len(each.ids) == 1 for each in peer.connections) == 100)
    restarted = time.monotonic()
    await asyncio.gather(*(each.socket.close(1012, "service_restart: Reconnect") for each in peer.connections))
    await asyncio.gather(*taking)
    waits = sorted(each.at - restarted for each in peer.connections[100:])
    assert len(waits) == 100
    # Of 100 uniform draws, a quarter within a second has a chance of one in 100,000.
    assert sum(wait < 1 for wait in waits) < 35
    assert waits[-1] > 5


def test_waits_double_to_a_minute_at_most() -> None:
    for retries, most in [(0, 6), (1, 12), (3, 48), (50, 60), (5_000, 60)]:
        longest = max(reconnect_delay(retries) for _ in range(200))
        assert most * 0.8 < longest <= most


async def test_cancelling_ends_it_also_while_nothing_comes(peer: Peer, listener: Server, new_client: NewClient) -> None:
    taking = asyncio.create_task(take(1, new_client().subscribe("subscription { n }")))
    await eventually(lambda: bool(peer.connections and peer.connections[0].ids))
    taking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await taking
    await eventually(lambda: not listener.connections)


async def test_a_peer_that_does_not_read_keeps_no_caller_from_leaving(peer: Peer, new_client: NewClient) -> None:
    peer.act = send_nth
    client = new_client()
    kept = client.subscribe("subscription { a }")
    await kept.__anext__()
    transport = peer.connections[0].socket.transport
    transport.pause_reading()
    own = client._subscriptions._socket
    assert own is not None
    for each, buffer in ((transport, socket.SO_RCVBUF), (own.transport, socket.SO_SNDBUF)):
        each.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, buffer, 4_096)
    # Random, since it is compressed.
    text = os.urandom(1_000_000).hex()
    taking = asyncio.create_task(take(1, client.subscribe("subscription { b }", {"text": text})))
    await eventually(lambda: own.transport.get_write_buffer_size() > 0)
    taking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(taking, 10)
    transport.abort()
    await kept.aclose()


async def test_one_that_leaves_does_not_end_the_others_and_a_new_one_connects_again(
    peer: Peer, listener: Server, new_client: NewClient
) -> None:
    peer.act = send_nth
    client = new_client()
    kept = client.subscribe("subscription { a }")
    assert (await kept.__anext__()).data == {"n": 1}
    left = client.subscribe("subscription { b }")
    assert await take(1, left) == [1]
    await left.aclose()
    await eventually(lambda: len(peer.connections[0].completed) == 1)
    await peer.connections[0].next(peer.connections[0].ids[0], 7)
    assert (await kept.__anext__()).data == {"n": 7}
    await kept.aclose()
    assert await take(1, client.subscribe("subscription { c }")) == [2]
    assert len(peer.connections) == 2


async def test_a_token_that_cannot_be_had_is_the_error(listener: Server) -> None:
    url = f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}"
    async with AsyncClient(url, token=lambda: "") as client:
        with pytest.raises(TransportError) as caught:
            await take(1, client.subscribe("subscription { n }"))
    assert caught.value.code == "invalid_response"


async def test_a_token_that_cannot_be_had_for_a_moment_ends_nothing(peer: Peer, listener: Server) -> None:
    async def act(connection: Connection, nth: int, own_id: str) -> None:
        await connection.next(own_id, nth)
        if nth == 1:
            await connection.socket.close(4401, "unauthorized: The token has expired")

    asked = 0

    async def token() -> str:
        nonlocal asked
        asked += 1
        if asked == 2:
            raise UnavailableError("Later", code="temporarily_unavailable")
        return f"t{asked}"

    peer.act = act
    async with AsyncClient(f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}", token=token) as client:
        assert await take(3, client.subscribe("subscription { n }")) == [1, "unauthorized", 2]
    assert peer.tokens == ["Bearer t1", "Bearer t3"]


async def test_an_error_of_the_operation_is_typed_by_its_code(peer: Peer, new_client: NewClient) -> None:
    async def act(connection: Connection, nth: int, own_id: str) -> None:
        extensions = {"code": "subscription_limit_exceeded", "request_id": "r", "limit": 1, "retry_after_sec": 2}
        payload = [{"message": "Full", "extensions": extensions}]
        await connection.socket.send(json.dumps({"id": own_id, "type": "error", "payload": payload}))

    peer.act = act
    with pytest.raises(TollgateError) as caught:
        await take(1, new_client().subscribe("subscription { n }"))
    failure = caught.value
    assert (failure.code, failure.limit, failure.retry_after) == ("subscription_limit_exceeded", 1, 2)


@pytest.mark.parametrize("text", ["{", "[]", '"x"', '{"type":"next"}', '{"type":"next","id":"1","payload":7}', "{}"])
async def test_odd_messages_are_survived(peer: Peer, new_client: NewClient, text: str) -> None:
    async def act(connection: Connection, nth: int, own_id: str) -> None:
        if nth == 1:
            await connection.socket.send(text)
        await connection.next(own_id, nth)

    peer.act = act
    events = new_client().subscribe("subscription { n }")
    async for event in events:
        if event.data is not None:
            break
    assert event.data["n"] in (1, 2)
    await events.aclose()


async def test_events_that_are_not_read_end_it(peer: Peer, new_client: NewClient) -> None:
    async def act(connection: Connection, nth: int, own_id: str) -> None:
        for n in range(10_002):
            await connection.next(own_id, n)

    peer.act = act
    client = new_client()
    events = client.subscribe("subscription { n }")
    await events.__anext__()
    (own,) = client._subscriptions._open.values()
    await eventually(lambda: own.is_ended)
    with pytest.raises(TransportError) as caught:
        await take(20_000, events)
    assert caught.value.code == "too_many_events"


async def test_no_token_is_logged(peer: Peer, new_client: NewClient, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    peer.act = send_nth
    await take(1, new_client().subscribe("subscription { n }"))
    own = [record for record in caplog.records if record.name.startswith(("tollgate", "http"))]
    assert "Bearer" not in "".join(record.getMessage() for record in own)


PROGRAM = """
import sys
from tollgate_client import Client

client = Client(sys.argv[1], token="t1")
events = client.subscribe("subscription { n }")
print(next(events).data["n"])
"""


async def test_a_program_that_leaves_a_subscription_open_ends(peer: Peer, listener: Server) -> None:
    peer.act = send_nth
    port = listener.sockets[0].getsockname()[1]
    program = await asyncio.create_subprocess_exec(
        sys.executable, "-c", PROGRAM, f"http://127.0.0.1:{port}", stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    try:
        assert await asyncio.wait_for(program.communicate(), 30) == (b"1\n", b"")
    finally:
        if program.returncode is None:
            program.kill()
            await program.wait()
