from __future__ import annotations

import asyncio
import math
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from .errors import TollgateError
from .types import FreshToken

_RENEWAL_MARGIN_SEC = 60
_REFUSED_CLIENT_PAUSE_SEC = 60
_MAX_BACKOFF_SEC = 30


@dataclass
class _Held:
    token: str
    renew_at: float
    ends_at: float


class Tokens:
    """One token for any number of callers, by the monotonic clock, from before its request.

    It is renewed at 90 % of its life or a minute before its end, whichever is later, a little earlier by chance.
    While it lives, no caller waits for the renewal, and a failed one is tried again later. `invalid_client` is
    final for a minute.
    """

    def __init__(self, obtain: Callable[[], Awaitable[FreshToken]], now: Callable[[], float] = time.monotonic) -> None:
        self._obtain = obtain
        self._now = now
        self._held: _Held | None = None
        self._pending: asyncio.Task[_Held] | None = None
        self._refusal: TollgateError | None = None
        self._failures = 0
        self._next_try = -math.inf

    async def get(self) -> str:
        """Waits only while there is no live token. Cancelling stops this caller, not the shared request."""
        now = self._now()
        if self._held is not None and now < self._held.ends_at:
            if now >= self._held.renew_at and now >= self._next_try:
                self._renew()
            return self._held.token
        if self._refusal is not None and now < self._next_try:
            raise self._refusal.with_traceback(None)
        return (await asyncio.shield(self._renew())).token

    def refuse(self, token: str) -> None:
        """After a 401 for it. It is forgotten, unless a newer one has taken its place."""
        if self._held is not None and self._held.token == token:
            self._held = None

    def close(self) -> None:
        if self._pending is not None:
            self._pending.cancel()

    def _renew(self) -> asyncio.Task[_Held]:
        if self._pending is None:
            self._pending = asyncio.create_task(self._obtain_held())
            self._pending.add_done_callback(self._settled)
        return self._pending

    def _settled(self, task: asyncio.Task[_Held]) -> None:
        self._pending = None
        # A failure that no caller waits for is silent.
        if not task.cancelled():
            task.exception()

    async def _obtain_held(self) -> _Held:
        started = self._now()
        try:
            fresh = await self._obtain()
        except Exception as error:
            self._failures += 1
            backoff = min(2.0 ** min(self._failures, 10), _MAX_BACKOFF_SEC) * random.uniform(0.5, 1)
            self._refusal = error if isinstance(error, TollgateError) and error.code == "invalid_client" else None
            self._next_try = self._now() + (_REFUSED_CLIENT_PAUSE_SEC if self._refusal else backoff)
            raise
        life = math.inf if fresh.expires_in is None else fresh.expires_in
        self._failures, self._refusal, self._next_try = 0, None, -math.inf
        until_renewal = math.inf if life == math.inf else max(life * 0.9, life - _RENEWAL_MARGIN_SEC)
        spread = 0 if life == math.inf else random.random() * (life - until_renewal) / 2
        self._held = _Held(fresh.access_token, started + until_renewal - spread, started + life)
        return self._held
