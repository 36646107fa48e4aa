from __future__ import annotations

import json
import ssl
import zlib
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import anyio

from ._responses import Headers
from .errors import RateLimitError, TollgateError, TransportError

if TYPE_CHECKING:
    import httpx2 as httpx
else:
    try:
        import httpx2 as httpx
    except ImportError:
        import httpx

T = TypeVar("T")

MAX_ATTEMPTS = 3
"""How often a request is sent at most."""


class _UnansweredError(TransportError):
    """Nothing came back: what changes nothing may be sent again."""


@dataclass(frozen=True)
class Answer:
    status: int
    headers: Headers
    json: object


@dataclass(frozen=True)
class Bounds:
    timeout: float
    """Seconds from a request to the end of its response."""
    max_bytes: int
    """Of a response, after decoding."""


def new_http(*, trust_env: bool, proxy: str | None, ssl_context: ssl.SSLContext | None) -> httpx.AsyncClient:
    return httpx.AsyncClient(
        # Of `exchange`, which bounds all of it together.
        timeout=None,
        trust_env=trust_env,
        proxy=proxy,
        verify=True if ssl_context is None else ssl_context,
    )


async def exchange(
    http: httpx.AsyncClient, method: str, url: str, headers: Mapping[str, str], content: bytes | None, bounds: Bounds
) -> Answer:
    """One request and its JSON response, or a TransportError.

    Redirects aren't followed: they would carry the secret or the token elsewhere.
    """
    is_answered = False
    try:
        with anyio.fail_after(bounds.timeout):
            # Decoded here, within bounds.
            sent = {"accept": "application/json", **headers, "accept-encoding": "gzip"}
            async with http.stream(method, url, headers=sent, content=content, follow_redirects=False) as response:
                is_answered = True
                status = response.status_code
                if 300 <= status < 400:
                    message = "The server answered with a redirect, which is not followed. Check the URL."
                    raise TransportError(message, code="redirected", status=status)
                body = _parsed(await _bounded_body(response, bounds.max_bytes))
    except TimeoutError:
        raise TransportError(f"It took more than {bounds.timeout} s.", code="timeout") from None
    except (httpx.HTTPError, httpx.InvalidURL, OSError) as error:
        failure = TransportError if is_answered else _UnansweredError
        # Not its cause, whose request holds the token.
        raise failure(f"The connection failed: {type(error).__name__}", code="connection_failed") from None
    # Of an error response the status says enough.
    if status < 300 and body is None:
        raise TransportError("The response is not JSON.", code="invalid_response", status=status)
    return Answer(status, response.headers, body)


async def _bounded_body(response: httpx.Response, max_bytes: int) -> bytes:
    encoding = response.headers.get("content-encoding", "identity").strip().lower()
    if encoding not in ("gzip", "identity"):
        raise TransportError("The response has an unknown encoding.", code="invalid_response")
    gunzip = zlib.decompressobj(31) if encoding == "gzip" else None
    body = bytearray()
    async for chunk in response.aiter_raw():
        try:
            body += gunzip.decompress(chunk, max_bytes + 1 - len(body)) if gunzip else chunk
        except zlib.error:
            raise TransportError("The response is not gzip.", code="invalid_response") from None
        if len(body) > max_bytes:
            message = f"It has more than {max_bytes} bytes."
            raise TransportError(message, code="response_too_large", status=response.status_code)
    return bytes(body)


def _parsed(body: bytes) -> object:
    try:
        parsed: object = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return parsed


async def with_retries(
    work: Callable[[], Awaitable[T]],
    *,
    is_repeatable: bool,
    max_wait: float,
    is_final: Callable[[TollgateError], bool] = lambda _: False,
) -> T:
    """Repeats what `Retry-After` allows to repeat, and once what got no response.

    `is_repeatable`: sending it twice changes nothing. `max_wait`: seconds of all waits together.
    """
    left, was_unanswered, attempt = max_wait, False, 1
    while True:
        try:
            return await work()
        except TollgateError as error:
            wait = _stated_wait(error, is_repeatable)
            if isinstance(error, _UnansweredError) and is_repeatable and not was_unanswered:
                was_unanswered, wait = True, 0
            if wait is None or wait > left or attempt == MAX_ATTEMPTS or is_final(error):
                raise
        left -= wait
        attempt += 1
        await anyio.sleep(wait)


def _stated_wait(error: TollgateError, is_repeatable: bool) -> float | None:
    """A call over the plan's rate wasn't executed; one that met an outage may have been."""
    is_allowed = is_repeatable or isinstance(error, RateLimitError)
    return error.retry_after if error.status in (429, 503) and is_allowed else None
