from __future__ import annotations

import asyncio
import json
import ssl
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import anyio

from ._responses import Headers, error_of_response
from ._tokens import Tokens
from .errors import RateLimitError, TransportError

if TYPE_CHECKING:
    import httpx2 as httpx
else:
    try:
        import httpx2 as httpx
    except ImportError:
        import httpx

_MAX_ATTEMPTS = 3
"""How often a request is sent at most."""


class _UnansweredError(TransportError):
    """Nothing came back: what changes nothing may be sent again."""


@dataclass(frozen=True)
class Outgoing:
    """A POST if it has content."""

    url: str
    content: bytes | None = None
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    is_repeatable: bool = True
    """Sending it twice changes nothing."""


@dataclass(frozen=True)
class Answer:
    status: int
    headers: Headers
    json: object


def new_http(trust_env: bool, proxy: str | None, ssl_context: ssl.SSLContext | None) -> httpx.AsyncClient:
    # `Exchange` bounds all of a request together.
    return httpx.AsyncClient(timeout=None, trust_env=trust_env, proxy=proxy, verify=ssl_context or True)


@dataclass(frozen=True)
class Exchange:
    http: httpx.AsyncClient
    timeout: float
    """Seconds from a request to the end of its response."""
    max_wait: float
    """Seconds of all waits of a call together."""
    max_bytes: int
    """Of a response, after decoding."""
    slots: asyncio.Semaphore
    """What waits in httpx's own pool takes it quadratic time, and would count as time of the request."""

    async def send(self, outgoing: Outgoing, tokens: Tokens | None = None, *, may_renew: bool = False) -> Answer:
        """Again when `Retry-After` says so, once more without a response, and once more after a 401 for its token.

        :raises TollgateError: unless the response is 2xx
        """
        left, was_unanswered, attempt = self.max_wait, False, 0
        while True:
            attempt += 1
            is_last = attempt == _MAX_ATTEMPTS
            # A failure of it is final: its request has had its retries.
            token = await tokens.get() if tokens else None
            try:
                async with self.slots:
                    answer = await self._exchange(outgoing, token)
            except _UnansweredError:
                if was_unanswered or is_last or not outgoing.is_repeatable:
                    raise
                was_unanswered = True
                continue
            if answer.status < 300:
                return answer
            if answer.status == 401 and may_renew and tokens and token and "proxy-status" not in answer.headers:
                may_renew = False
                tokens.refuse(token)
                if not is_last:
                    continue
            error = error_of_response(answer.status, answer.headers, answer.json)
            # A call over the plan's rate wasn't executed; one that met an outage may have been.
            is_allowed = outgoing.is_repeatable or isinstance(error, RateLimitError)
            wait = error.retry_after if is_allowed and answer.status in (429, 503) else None
            if wait is None or wait > left or is_last:
                raise error
            left -= wait
            await anyio.sleep(wait)

    async def _exchange(self, outgoing: Outgoing, token: str | None) -> Answer:
        """One request and its JSON response, or a TransportError.

        Redirects aren't followed: they would carry the secret or the token elsewhere.
        """
        method = "GET" if outgoing.content is None else "POST"
        authorization = {} if token is None else {"authorization": f"Bearer {token}"}
        # Decoded here, within bounds.
        sent = {"accept": "application/json", **outgoing.headers, **authorization, "accept-encoding": "gzip"}
        stream = self.http.stream(method, outgoing.url, headers=sent, content=outgoing.content, follow_redirects=False)
        is_answered = False
        try:
            with anyio.fail_after(self.timeout):
                async with stream as response:
                    is_answered = True
                    status = response.status_code
                    if 300 <= status < 400:
                        message = "The server answered with a redirect, which is not followed. Check the URL."
                        raise TransportError(message, code="redirected", status=status)
                    body = _parsed(await _bounded_body(response, self.max_bytes))
        except TimeoutError:
            raise TransportError(f"It took more than {self.timeout} s.", code="timeout") from None
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
