from __future__ import annotations

import asyncio
import contextlib
import functools
import itertools
import json
import logging
import math
import random
import time
from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import Any

import anyio
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, WebSocketException
from websockets.typing import Subprotocol

from ._responses import error_of_close, error_of_refusal, graphql_errors, object_of
from ._tokens import Tokens
from .errors import RateLimitError, TransportError, UnavailableError
from .types import Gap, SubscriptionEvent

_FRESH_TOKEN_SEC = 60
"""A second 4401 within this time, without a result in between, is final."""
_ACK_TIMEOUT_SEC = 10
_PING_INTERVAL_SEC = 15
_PONG_TIMEOUT_SEC = 10
_CLOSE_TIMEOUT_SEC = 1
_MAX_WAITING_EVENTS = 10_000
"""Events that the caller hasn't taken yet."""
_RECONNECT_SPREAD_SEC = 6
"""More than 5 s, so that the clients of a gateway that restarts come back spread over that time."""
_MAX_RECONNECT_SPREAD_SEC = 60
_RESUMABLE_CLOSES = {1000, 1001, 1005, 1006, 1012, 1013, 1014, 4408}
"""The others are final, but for 4401 once."""

_logger = logging.getLogger("tollgate_client.websocket")
# The messages that would be logged hold the token.
_logger.setLevel(logging.INFO)


def reconnect_delay(retries: int) -> float:
    """Seconds: full jitter, doubled with each attempt."""
    return random.random() * min(_RECONNECT_SPREAD_SEC * 2.0 ** min(retries, 10), _MAX_RECONNECT_SPREAD_SEC)


def _is_passing(error: Exception) -> bool:
    """Of a request for a token: another one may succeed."""
    unanswered = isinstance(error, TransportError) and error.code in ("connection_failed", "timeout")
    return unanswered or isinstance(error, RateLimitError | UnavailableError)


@dataclass(eq=False)
class _Open:
    """A subscription, whichever socket carries it. It is live once one has."""

    payload: Mapping[str, Any]
    events: asyncio.Queue[SubscriptionEvent | BaseException | None] = field(default_factory=lambda: asyncio.Queue())
    """Its end is the last: an error, or None."""
    is_live: bool = False
    is_ended: bool = False

    def push(self, event: SubscriptionEvent) -> None:
        # Nothing is kept after the end, or a slow caller would never reach it.
        if self.events.qsize() >= _MAX_WAITING_EVENTS:
            self.end(TransportError("Events are not read fast enough.", code="too_many_events"))
        elif not self.is_ended:
            self.events.put_nowait(event)

    def end(self, error: BaseException | None = None) -> None:
        if not self.is_ended:
            self.is_ended = True
            self.events.put_nowait(error)


class Subscriptions:
    """All subscriptions of a client share one WebSocket (graphql-transport-ws), which is open while there are any."""

    def __init__(self, url: str, tokens: Tokens, max_reconnects: int, **options: Any) -> None:
        self._tokens = tokens
        self._max_reconnects = max_reconnects
        self._connect = functools.partial(
            connect,
            url,
            subprotocols=[Subprotocol("graphql-transport-ws")],
            ping_interval=_PING_INTERVAL_SEC,
            ping_timeout=_PONG_TIMEOUT_SEC,
            close_timeout=_CLOSE_TIMEOUT_SEC,
            logger=_logger,
            **options,
        )
        self._open: dict[str, _Open] = {}
        self._ids = itertools.count(1)
        self._socket: ClientConnection | None = None
        """Once it is acknowledged."""
        self._last_heard = _now()
        self._lost: tuple[datetime, str] | None = None
        """Since when there is no socket, and why."""
        self._refreshed_at = -math.inf
        self._task: asyncio.Task[None] | None = None
        self._closing: set[asyncio.Task[None]] = set()

    async def subscribe(self, payload: Mapping[str, Any]) -> AsyncGenerator[SubscriptionEvent, None]:
        own, own_id = _Open(payload), str(next(self._ids))
        self._open[own_id] = own
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._serve())
        try:
            if self._socket is not None:
                await self._start(self._socket, own_id, own)
            while isinstance(event := await own.events.get(), SubscriptionEvent):
                yield event
            if event is not None:
                raise event
        finally:
            own.end()
            del self._open[own_id]
            socket = self._socket
            if not self._open:
                self._leave()
            if socket is not None:
                # A caller that was cancelled is gone, whether or not the peer reads.
                with anyio.move_on_after(_CLOSE_TIMEOUT_SEC):
                    await _send(socket, {"id": own_id, "type": "complete"})

    async def _start(self, socket: ClientConnection, own_id: str, own: _Open) -> None:
        own.is_live = True
        await _send(socket, {"id": own_id, "type": "subscribe", "payload": own.payload})

    def _leave(self) -> None:
        if self._task is not None:
            self._task.cancel()
            self._closing.add(self._task)
            self._task.add_done_callback(self._closing.discard)
        self._task = self._socket = None

    async def aclose(self) -> None:
        for each in self._open.values():
            each.end()
        self._leave()
        if self._closing:
            await asyncio.wait(self._closing)

    async def _serve(self) -> None:
        """Connects until there is no subscription left."""
        retries = 0
        while any(not each.is_ended for each in self._open.values()):
            token, close_code, reason = "", 1006, ""
            # Of the request for a token.
            failure: Exception | None = None
            try:
                token = await self._tokens.get()
                async with self._connect() as socket:
                    await self._initialise(socket, token)
                    retries = 0
                    while True:
                        await self._receive(socket, object_of(json.loads(await socket.recv())))
            except ConnectionClosed as closed:
                if closed.rcvd is not None:
                    close_code, reason = closed.rcvd.code, closed.rcvd.reason
            except (OSError, WebSocketException, asyncio.TimeoutError, ValueError, RecursionError):
                pass
            except Exception as error:
                failure = error
            finally:
                if self._task is asyncio.current_task():
                    self._socket = None
            closure = error_of_close(close_code, reason)
            self._lost = self._lost or (self._last_heard, closure.code)
            if close_code == 4401:
                self._tokens.refuse(token)
            if close_code == 4401 and time.monotonic() - self._refreshed_at >= _FRESH_TOKEN_SEC:
                self._refreshed_at = time.monotonic()
                continue
            is_passing = close_code in _RESUMABLE_CLOSES if failure is None else _is_passing(failure)
            if is_passing and retries < self._max_reconnects:
                await asyncio.sleep(reconnect_delay(retries))
                retries += 1
            else:
                for each in self._open.values():
                    each.end(failure or closure)

    async def _initialise(self, socket: ClientConnection, token: str) -> None:
        await _send(socket, {"type": "connection_init", "payload": {"Authorization": f"Bearer {token}"}})
        answer = json.loads(await asyncio.wait_for(socket.recv(), _ACK_TIMEOUT_SEC))
        if object_of(answer).get("type") != "connection_ack":
            raise ValueError("not acknowledged")
        self._socket, self._last_heard = socket, _now()
        lost, self._lost = self._lost, None
        for own_id, each in list(self._open.items()):
            if lost is not None and each.is_live:
                each.push(SubscriptionEvent(gap=Gap(lost[0], self._last_heard, lost[1])))
            if not each.is_ended:
                await self._start(socket, own_id, each)

    async def _receive(self, socket: ClientConnection, message: Mapping[str, Any]) -> None:
        self._last_heard = _now()
        kind, payload = message.get("type"), message.get("payload")
        own = self._open.get(str(message.get("id")))
        if kind == "ping":
            await _send(socket, {"type": "pong"})
        elif own is None:
            return
        elif kind == "next":
            self._refreshed_at = -math.inf
            result = object_of(payload)
            errors = graphql_errors(result.get("errors"))
            own.push(SubscriptionEvent(result.get("data"), errors, object_of(result.get("extensions"))))
        elif kind == "error":
            own.end(error_of_refusal((graphql_errors(payload) or [{}])[0]))
        elif kind == "complete":
            own.end()


async def _send(socket: ClientConnection, message: Mapping[str, Any]) -> None:
    """A socket that is closed meanwhile says so to its reader."""
    with contextlib.suppress(ConnectionClosed):
        await socket.send(json.dumps(message))


def _now() -> datetime:
    return datetime.now(timezone.utc)
