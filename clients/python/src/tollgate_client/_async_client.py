from __future__ import annotations

import asyncio
import inspect
import json
import re
import ssl
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from typing import Any, Union, cast
from urllib.parse import urlencode, urlsplit

from anyio import to_thread

from ._api import Credits, Estimate, Usage
from ._exchange import Answer, Exchange, Outgoing, new_http
from ._operation_type import is_query
from ._responses import number_of, object_of, result_of
from ._subscriptions import Subscriptions
from ._tokens import Tokens
from .errors import TransportError
from .types import FreshToken, Result, SubscriptionEvent

TokenSource = Union[str, Callable[[], str | FreshToken | Awaitable[str | FreshToken]]]
"""A manual token, or a function that gets a new one. One that isn't `async` runs in a thread."""

Variables = Mapping[str, Any]

_MAX_REQUESTS_AT_A_TIME = 100
_MAX_TOKEN_RESPONSE_BYTES = 65_536
_GRAPHQL_HEADERS = {
    "accept": "application/graphql-response+json, application/json;q=0.9",
    "content-type": "application/json",
}
_TOKEN = re.compile(r"[\w.~+/-]+=*", re.ASCII)
"""RFC 6750, section 2.1. The error about another one would quote it."""


class AsyncClient(AbstractAsyncContextManager["AsyncClient"]):
    """A client of the data API, whose calls share a token. It belongs to one event loop."""

    def __init__(
        self,
        url: str,
        *,
        client_id: str | None = None,
        client_secret: str | None = None,
        token: TokenSource | None = None,
        path: str = "/graphql",
        token_url: str | None = None,
        account_url: str | None = None,
        timeout: float = 30,
        max_wait: float = 30,
        max_response_bytes: int = 8_388_608,
        max_reconnects: int = 20,
        trust_env: bool = True,
        proxy: str | None = None,
        ssl_context: ssl.SSLContext | None = None,
    ) -> None:
        """
        :param url: address of the API without a path, such as `https://api.example.com`
        :param client_id: of an application: with `client_secret`, or `token` in place of both
        :param path: of the data endpoint
        :param token_url: default: `/oauth2/token` of `url`
        :param account_url: where `/api/usage` and `/api/credits` are; default: `url`
        :param timeout: seconds, of each attempt
        :param max_wait: seconds that a call waits in all when it is told to retry later
        :param max_response_bytes: after decoding
        :param max_reconnects: attempts to reconnect subscriptions, each with a longer wait
        :param trust_env: use `HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY` and `NO_PROXY`
        :param proxy: address of a proxy, instead of the environment's
        :param ssl_context: for a certificate authority of your own
        :raises ValueError: if the options don't go together
        """
        base = _checked_url(url)
        self._data_url = base + path
        self._account_url = _checked_url(account_url or url)
        http = new_http(trust_env, proxy, ssl_context)
        slots = asyncio.Semaphore(_MAX_REQUESTS_AT_A_TIME)
        self._exchange = Exchange(http, timeout, max_wait, max_response_bytes, slots)
        # A fixed token can't become another one.
        self._may_renew = not isinstance(token, str)
        if token is not None and client_id is None and client_secret is None:
            obtain = _obtain_from(token)
        elif token is None and client_id and client_secret:
            obtain = self._obtain_with(client_id, client_secret, _checked_url(token_url or f"{base}/oauth2/token"))
        else:
            raise ValueError("Give `client_id` and `client_secret`, or `token`.")
        self._tokens = Tokens(obtain)
        socket_url = re.sub("^http", "ws", self._data_url)
        self._subscriptions = Subscriptions(
            socket_url,
            self._tokens,
            max_reconnects,
            max_size=max_response_bytes,
            proxy=proxy or (True if trust_env else None),
            ssl=ssl_context or True if socket_url.startswith("wss:") else None,
        )

    async def request(
        self,
        query: str,
        variables: Variables | None = None,
        *,
        operation_name: str | None = None,
        idempotent: bool = False,
    ) -> Result:
        """Runs a query or a mutation.

        :param idempotent: the mutation may be sent twice: it is retried like a query
        :raises TollgateError: by its code; DataApiError if the result has errors, with the data that there is
        """
        is_repeatable = idempotent or is_query(query, operation_name)
        answer = await self._post(self._data_url, query, variables, operation_name, is_repeatable)
        return result_of(answer.status, answer.headers, answer.json)

    async def estimate(
        self, query: str, variables: Variables | None = None, *, operation_name: str | None = None
    ) -> Estimate:
        """What the operation would cost at most. It isn't executed, and costs nothing."""
        answer = await self._post(f"{self._data_url}/estimate", query, variables, operation_name, True)
        return cast(Estimate, object_of(object_of(answer.json).get("extensions")).get("estimate"))

    def subscribe(
        self, query: str, variables: Variables | None = None, *, operation_name: str | None = None
    ) -> AsyncGenerator[SubscriptionEvent, None]:
        """Events until the subscription is complete. Stop by leaving the loop."""
        return self._subscriptions.subscribe(_payload(query, variables, operation_name))

    async def usage(self, period_id: int | None = None) -> Usage:
        """The billing period that the calls are charged to, or another one of the same payer."""
        path = "/api/usage" if period_id is None else f"/api/usage?period_id={period_id}"
        return cast(Usage, (await self._send(Outgoing(self._account_url + path))).json)

    async def credits(self) -> Credits:
        """Points in addition to the plan's."""
        return cast(Credits, (await self._send(Outgoing(f"{self._account_url}/api/credits"))).json)

    async def aclose(self) -> None:
        """Ends the subscriptions and the connections."""
        await self._subscriptions.aclose()
        self._tokens.close()
        await self._exchange.http.aclose()

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    def _obtain_with(self, client_id: str, secret: str, url: str) -> Callable[[], Awaitable[FreshToken]]:
        form = {"grant_type": "client_credentials", "scope": "api", "client_id": client_id, "client_secret": secret}
        headers = {"content-type": "application/x-www-form-urlencoded"}
        outgoing = Outgoing(url, urlencode(form).encode(), headers)
        exchange = replace(self._exchange, max_bytes=_MAX_TOKEN_RESPONSE_BYTES)

        async def obtain() -> FreshToken:
            fields = object_of((await exchange.send(outgoing)).json)
            return _checked_token(fields.get("access_token"), fields.get("expires_in"))

        return obtain

    async def _post(
        self, url: str, query: str, variables: Variables | None, operation_name: str | None, is_repeatable: bool
    ) -> Answer:
        content = json.dumps(_payload(query, variables, operation_name)).encode()
        return await self._send(Outgoing(url, content, _GRAPHQL_HEADERS, is_repeatable))

    async def _send(self, outgoing: Outgoing) -> Answer:
        return await self._exchange.send(outgoing, self._tokens, may_renew=self._may_renew)


def _obtain_from(source: TokenSource) -> Callable[[], Awaitable[FreshToken]]:
    async def obtain() -> FreshToken:
        # Not asyncio's threads, which asyncio.run waits for.
        given = source if isinstance(source, str) else await to_thread.run_sync(source, abandon_on_cancel=True)
        fresh = (await given) if inspect.isawaitable(given) else given
        if isinstance(fresh, FreshToken):
            return _checked_token(fresh.access_token, fresh.expires_in)
        return _checked_token(fresh)

    return obtain


def _checked_token(token: object, expires_in: object = None) -> FreshToken:
    if isinstance(token, str) and _TOKEN.fullmatch(token):
        return FreshToken(token, number_of(expires_in))
    raise TransportError("There is no access token in the response.", code="invalid_response")


def _payload(query: str, variables: Variables | None, operation_name: str | None) -> dict[str, Any]:
    named = {} if operation_name is None else {"operationName": operation_name}
    return {"query": query, **({} if variables is None else {"variables": variables}), **named}


def _checked_url(text: str) -> str:
    """The error doesn't quote the address, which could hold a password."""
    try:
        parts = urlsplit(text)
        if parts.scheme in ("http", "https") and parts.hostname and "@" not in parts.netloc:
            return text.rstrip("/")
    except ValueError:
        pass
    raise ValueError("A URL must be http or https, without a user name or a password.")
