from __future__ import annotations

import asyncio
import functools
import os
import threading
import weakref
from collections.abc import AsyncGenerator, Callable, Coroutine, Generator
from concurrent.futures import Future
from contextlib import AbstractContextManager
from typing import Any, Concatenate, ParamSpec, TypeVar

from ._async_client import AsyncClient, Variables
from .types import SubscriptionEvent

T = TypeVar("T")
P = ParamSpec("P")


def _with_options_of(
    _: Callable[Concatenate[AsyncClient, P], None],
) -> Callable[[Callable[..., None]], Callable[Concatenate[Client, P], None]]:
    return lambda own: own


def _synchronous(
    method: Callable[Concatenate[AsyncClient, P], Coroutine[Any, Any, T]],
) -> Callable[Concatenate[Client, P], T]:
    @functools.wraps(method)
    def call(self: Client, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return self._run(method(self._engine, *args, **kwargs))  # pyright: ignore[reportPrivateUsage]

    return call


class Client(AbstractContextManager["Client"]):
    """`AsyncClient` for threads, with the same options. It runs on an event loop in a thread of its own.

    Any number of threads share it, and its token. A process that is forked gets a loop and connections of its own.
    """

    @_with_options_of(AsyncClient.__init__)
    @functools.wraps(AsyncClient.__init__)
    def __init__(self, *args: Any, **options: Any) -> None:
        self._new_engine = functools.partial(AsyncClient, *args, **options)
        self._is_closed = False
        self._inherited: object = None
        self._start()
        _clients.add(self)

    request = _synchronous(AsyncClient.request)
    estimate = _synchronous(AsyncClient.estimate)
    usage = _synchronous(AsyncClient.usage)
    credits = _synchronous(AsyncClient.credits)

    def subscribe(
        self, query: str, variables: Variables | None = None, *, operation_name: str | None = None
    ) -> Generator[SubscriptionEvent, None, None]:
        """As `AsyncClient.subscribe`."""
        engine = self._engine
        events = engine.subscribe(query, variables, operation_name=operation_name)
        try:
            while (event := self._run(_next(events))) is not None:
                yield event
        finally:
            # Without waiting: at the end of the program the loop's thread is gone, and a collection may run in it.
            if not self._is_closed and engine is self._engine and self._loop is not None:
                asyncio.run_coroutine_threadsafe(_leave(events), self._loop)

    def close(self) -> None:
        """Ends the subscriptions, the connections and the thread."""
        self._is_closed = True
        if self._thread is not None:
            self._end()
            self._thread.join()

    def __exit__(self, *_: object) -> None:
        self.close()

    def _start(self) -> None:
        """The thread starts with the first call, so that a process which is forked before has none."""
        self._engine = self._new_engine()
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._end: Any = None

    def _restart(self) -> None:
        """In a child process, which has the parent's sockets, but not its threads."""
        if self._end is not None:
            self._end.detach()
        # Kept: closing them would disturb the parent.
        self._inherited = (self._inherited, self._engine, self._loop)
        self._start()

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        if self._is_closed:
            work.close()
            raise RuntimeError("The client is closed.")
        with self._lock:
            if self._loop is None:
                ready: Future[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = Future()
                serving = _serve(self._engine, ready)
                self._thread = threading.Thread(target=asyncio.run, args=[serving], name="tollgate-client", daemon=True)
                self._thread.start()
                self._loop, ended = ready.result()
                self._end = weakref.finalize(self, self._loop.call_soon_threadsafe, ended.set)
                self._end.atexit = False
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        except BaseException:
            # Of an interrupt: the work ends with its caller.
            future.cancel()
            raise


async def _next(events: AsyncGenerator[SubscriptionEvent, None]) -> SubscriptionEvent | None:
    return await anext(events, None)


async def _leave(events: AsyncGenerator[SubscriptionEvent, None]) -> None:
    await events.aclose()


async def _serve(engine: AsyncClient, ready: Future[tuple[asyncio.AbstractEventLoop, asyncio.Event]]) -> None:
    ended = asyncio.Event()
    ready.set_result((asyncio.get_running_loop(), ended))
    await ended.wait()
    # Then asyncio.run cancels the calls that are left, whose threads would wait forever.
    await engine.aclose()


_clients: weakref.WeakSet[Client] = weakref.WeakSet()


def _after_fork() -> None:
    for client in _clients:
        client._restart()  # pyright: ignore[reportPrivateUsage]


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
