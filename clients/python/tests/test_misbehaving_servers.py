from __future__ import annotations

import asyncio
import gzip
import logging
import math
import pickle
import traceback
from collections.abc import Awaitable
from datetime import datetime, timezone
from typing import Any

import pytest
from conftest import OK, BadServer, NewClient, Request, Respond, answer, drop, issue, refusal, response

from tollgate_client import (
    AsyncClient,
    AuthenticationError,
    DataApiError,
    FreshToken,
    PlanError,
    RateLimitError,
    TollgateError,
    TransportError,
)

pytestmark = pytest.mark.anyio
QUERY = "{ ok }"
BOMB = gzip.compress(b" " * 50_000_000)


async def failure_of(work: Awaitable[object]) -> TollgateError:
    with pytest.raises(TollgateError) as caught:
        await work
    return caught.value


def in_turn(*responds: Respond) -> Respond:
    """The last one again and again."""

    async def respond(request: Request, writer: asyncio.StreamWriter) -> None:
        await responds[min(request.nth, len(responds)) - 1](request, writer)

    return respond


def slow(respond: Respond, seconds: float) -> Respond:
    async def later(request: Request, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(seconds)
        await respond(request, writer)

    return later


class TestTokens:
    async def test_a_hundred_callers_at_once_share_one_token_request(
        self, server: BadServer, new_client: NewClient
    ) -> None:
        server.token = slow(issue, 0.05)
        client = new_client()
        await asyncio.gather(*(client.request(QUERY) for _ in range(100)))
        assert server.tokens == 1
        assert {request.headers.get("authorization") for request in server.seen} == {None, "Bearer t1"}

    async def test_a_failed_request_reaches_all_that_wait_and_the_next_caller_tries_again(
        self, server: BadServer, new_client: NewClient
    ) -> None:
        server.token = in_turn(response(500, {"error": "server_error"}), issue)
        client = new_client()
        failures = await asyncio.gather(*(failure_of(client.request(QUERY)) for _ in range(3)))
        assert [failure.code for failure in failures] == ["server_error"] * 3
        assert server.tokens == 1
        assert (await client.request(QUERY)).data == {"ok": True}

    async def test_invalid_client_is_final_for_a_minute(self, server: BadServer, new_client: NewClient) -> None:
        server.token = response(401, {"error": "invalid_client"})
        client = new_client()
        for _ in range(3):
            failure = await failure_of(client.request(QUERY))
            assert isinstance(failure, AuthenticationError)
            assert failure.code == "invalid_client"
        assert server.tokens == 1

    async def test_a_cancelled_caller_does_not_stop_the_request_of_the_others(
        self, server: BadServer, new_client: NewClient
    ) -> None:
        server.token = slow(issue, 0.1)
        client = new_client()
        cancelled = asyncio.create_task(client.request(QUERY))
        kept = asyncio.create_task(client.request(QUERY))
        await asyncio.sleep(0)
        cancelled.cancel()
        with pytest.raises(asyncio.CancelledError):
            await cancelled
        assert (await kept).data == {"ok": True}
        assert server.tokens == 1

    async def test_after_a_401_concurrent_calls_share_one_new_token(
        self, server: BadServer, new_client: NewClient
    ) -> None:
        async def call(request: Request, writer: asyncio.StreamWriter) -> None:
            is_old = request.headers["authorization"] == "Bearer t1"
            await (refusal(401, "unauthorized") if is_old else OK)(request, writer)

        server.call = call
        client = new_client()
        await asyncio.gather(*(client.request(QUERY) for _ in range(20)))
        assert (server.tokens, server.calls) == (2, 40)

    async def test_a_server_that_always_says_401_gets_two_calls(self, server: BadServer, new_client: NewClient) -> None:
        server.call = refusal(401, "unauthorized")
        failure = await failure_of(new_client().request(QUERY))
        assert isinstance(failure, AuthenticationError)
        assert (failure.code, failure.status, failure.request_id) == ("unauthorized", 401, "r1")
        assert (server.calls, server.tokens) == (2, 2)

    async def test_a_401_of_the_data_api_says_nothing_about_the_token(
        self, server: BadServer, new_client: NewClient
    ) -> None:
        server.call = response(401, {}, {"proxy-status": "tollgate; received-status=401"})
        failure = await failure_of(new_client().request(QUERY))
        assert isinstance(failure, DataApiError)
        assert (failure.code, server.calls, server.tokens) == ("upstream_error", 1, 1)

    @pytest.mark.parametrize(
        "token",
        [
            response(200, raw=b"<html>"),
            response(200, {}),
            response(200, {"access_token": "secret\r\nX-Evil: 1"}),
            response(200, raw=b'{"access_token":"' + b"x" * 70_000),
        ],
        ids=["no JSON", "no token", "a token that could be a header", "a long one"],
    )
    async def test_a_bad_token_response(self, server: BadServer, new_client: NewClient, token: Respond) -> None:
        server.token = token
        failure = await failure_of(new_client().request(QUERY))
        assert failure.code in ("invalid_response", "response_too_large")
        assert "X-Evil" not in "".join(traceback.format_exception(failure))

    async def test_a_fixed_token_that_is_refused_is_not_sent_twice(
        self, server: BadServer, new_client: NewClient
    ) -> None:
        server.call = refusal(401, "unauthorized")
        assert (await failure_of(new_client(token="manual").request(QUERY))).code == "unauthorized"
        assert server.calls == 1

    async def test_functions_give_tokens(self, server: BadServer, new_client: NewClient) -> None:
        async def soon() -> FreshToken:
            return FreshToken("from-a-coroutine", expires_in=60)

        await new_client(token=soon).request(QUERY)
        await new_client(token=lambda: "from-a-thread").request(QUERY)
        sent = [request.headers["authorization"] for request in server.seen]
        assert sent == ["Bearer from-a-coroutine", "Bearer from-a-thread"]


class TestRetryAfter:
    DATE = "Tue, 06 Nov 1990 08:49:37 GMT"

    @pytest.mark.parametrize("headers", [{"retry-after": "0"}, {"retry-after": DATE, "date": DATE}])
    async def test_is_waited_for(self, server: BadServer, new_client: NewClient, headers: dict[str, str]) -> None:
        server.call = in_turn(refusal(429, "rate_limit_exceeded", headers), answer)
        assert (await new_client().request("mutation { ok }")).data == {"ok": True}
        assert server.calls == 2

    @pytest.mark.parametrize(
        ("headers", "wait"),
        [
            ({"retry-after": "31"}, 31),
            ({"retry-after": "99999999999999999999"}, 1e20),
            ({"retry-after": "9" * 400}, math.inf),
            ({"retry-after": "-1"}, None),
            ({"retry-after": "NaN"}, None),
            ({"retry-after": "Tue, 06 Nov 1990 09:49:37 GMT", "date": DATE}, 3_600),
            ({"retry-after": "Tue, 06 Nov 1990 09:49:37 GMT", "date": "now"}, None),
            ({}, None),
        ],
    )
    async def test_that_is_too_long_or_none_is_an_error_at_once(
        self, server: BadServer, new_client: NewClient, headers: dict[str, str], wait: float | None
    ) -> None:
        server.call = refusal(429, "rate_limit_exceeded", headers)
        failure = await failure_of(new_client().request(QUERY))
        assert isinstance(failure, RateLimitError)
        assert (failure.limit, failure.remaining, failure.retry_after) == (10, 0, wait)
        assert server.calls == 1

    async def test_three_attempts_at_most(self, server: BadServer, new_client: NewClient) -> None:
        server.call = refusal(429, "rate_limit_exceeded", {"retry-after": "0"})
        await failure_of(new_client().request(QUERY))
        assert server.calls == 3

    async def test_three_attempts_at_most_for_a_token_too(self, server: BadServer, new_client: NewClient) -> None:
        server.token = response(503, {"error": "temporarily_unavailable"}, {"retry-after": "0"})
        assert (await failure_of(new_client().request(QUERY))).code == "temporarily_unavailable"
        assert server.tokens == 3

    async def test_the_wait_can_be_cancelled(self, server: BadServer, new_client: NewClient) -> None:
        server.call = refusal(503, "service_unavailable", {"retry-after": "20"})
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(new_client().request(QUERY), 0.2)

    async def test_a_mutation_that_met_an_outage_is_sent_once(self, server: BadServer, new_client: NewClient) -> None:
        server.call = refusal(503, "service_unavailable", {"retry-after": "0"})
        client = new_client()
        await failure_of(client.request("mutation { ok }"))
        assert server.calls == 1
        await failure_of(client.request("mutation { ok }", idempotent=True))
        assert server.calls == 4


class TestConnections:
    async def test_a_query_without_a_response_is_sent_once_more(self, server: BadServer, new_client: NewClient) -> None:
        server.call = in_turn(drop, answer)
        assert (await new_client().request(QUERY)).data == {"ok": True}

    @pytest.mark.parametrize(
        ("query", "calls"),
        [(QUERY, 2), ("mutation { ok }", 1), ("query A { ok } query B { ok }", 1)],
    )
    async def test_that_break_off(self, server: BadServer, new_client: NewClient, query: str, calls: int) -> None:
        server.call = drop
        failure = await failure_of(new_client().request(query))
        assert isinstance(failure, TransportError)
        assert (failure.code, server.calls) == ("connection_failed", calls)

    async def test_a_response_that_is_cut_is_an_error_and_not_repeated(
        self, server: BadServer, new_client: NewClient
    ) -> None:
        async def cut(_: Request, writer: asyncio.StreamWriter) -> None:
            writer.write(b'HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n{"data":{')
            await writer.drain()
            writer.close()

        server.call = cut
        assert (await failure_of(new_client().request(QUERY))).code == "connection_failed"
        assert server.calls == 1

    @pytest.mark.parametrize("head", [b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{", b"HTTP/1.1 200"])
    async def test_a_server_that_drips_is_an_error_after_the_timeout(
        self, server: BadServer, new_client: NewClient, head: bytes
    ) -> None:
        async def drip(_: Request, writer: asyncio.StreamWriter) -> None:
            writer.write(head)
            while not writer.transport.is_closing():
                writer.write(b" ")
                await asyncio.sleep(0.05)

        server.call = drip
        assert (await failure_of(new_client(timeout=0.2).request(QUERY))).code == "timeout"

    async def test_a_redirect_is_not_followed(self, server: BadServer, new_client: NewClient) -> None:
        server.call = response(307, {}, {"location": f"{server.url}/stolen"})
        assert (await failure_of(new_client().request(QUERY))).code == "redirected"
        server.token = server.call
        assert (await failure_of(new_client().request(QUERY))).code == "redirected"
        assert "/stolen" not in [request.path for request in server.seen]

    async def test_a_host_that_does_not_exist(self) -> None:
        async with AsyncClient("http://does-not-exist.invalid", token="t") as client:
            assert (await failure_of(client.request(QUERY))).code == "connection_failed"


class TestBodies:
    @pytest.mark.parametrize(
        ("call", "code"),
        [
            (response(200, raw=b"<html>"), "invalid_response"),
            (response(200, raw=b'{"data":'), "invalid_response"),
            (response(200, raw=b"[]"), "invalid_response"),
            (response(200, raw=b"[" * 100_000), "invalid_response"),
            (response(200, raw=b"\xff\xfe\xfa"), "invalid_response"),
            (response(200, raw=b'"' + b"x" * 10_000_000 + b'"'), "response_too_large"),
            (response(200, raw=BOMB, headers={"content-encoding": "gzip"}), "response_too_large"),
            (response(200, raw=b"no gzip", headers={"content-encoding": "gzip"}), "invalid_response"),
            (response(200, raw=b"\x1b", headers={"content-encoding": "br"}), "invalid_response"),
            (response(502, raw=b"<html>"), "http_502"),
            (refusal(418, "new_code"), "new_code"),
            (response(400, {"errors": [None, 7]}), "http_400"),
            (response(400, {"code": 7, "detail": []}), "http_400"),
        ],
    )  # fmt: skip
    async def test_of_any_kind_are_typed_errors(
        self, server: BadServer, new_client: NewClient, call: Respond, code: str
    ) -> None:
        server.call = call
        assert (await failure_of(new_client().request(QUERY))).code == code

    async def test_gzip_is_read(self, server: BadServer, new_client: NewClient) -> None:
        body = gzip.compress(b'{"data":{"ok":true}}')
        server.call = response(200, raw=body, headers={"content-encoding": "gzip"})
        assert (await new_client().request(QUERY)).data == {"ok": True}

    async def test_errors_of_a_result_have_its_data_and_its_price(
        self, server: BadServer, new_client: NewClient
    ) -> None:
        errors = [{"message": "No such country", "path": ["ok"]}]
        server.call = response(200, {"data": {"ok": None}, "errors": errors}, {"x-points-cost": "3"})
        failure = await failure_of(new_client().request(QUERY))
        assert isinstance(failure, DataApiError)
        assert (failure.code, failure.errors, failure.data, failure.cost) == (
            "data_api_error", errors, {"ok": None}, 3,
        )  # fmt: skip

    async def test_a_refusal_tells_when_the_limit_resets(self, server: BadServer, new_client: NewClient) -> None:
        extensions = {"code": "points_limit_exceeded", "request_id": "r", "period_ended_at": "2026-12-01T00:00:00Z"}
        server.call = response(402, {"errors": [{"message": "Used up", "extensions": extensions}]})
        failure = await failure_of(new_client().request(QUERY))
        assert isinstance(failure, PlanError)
        assert failure.resets_at == datetime(2026, 12, 1, tzinfo=timezone.utc)

    async def test_errors_can_be_pickled(self, server: BadServer, new_client: NewClient) -> None:
        server.call = refusal(402, "points_limit_exceeded")
        failure = pickle.loads(pickle.dumps(await failure_of(new_client().request(QUERY))))
        assert (type(failure), failure.code, str(failure)) == (PlanError, "points_limit_exceeded", "Refused")


async def test_neither_secret_nor_token_is_shown(
    server: BadServer, new_client: NewClient, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    server.call = refusal(401, "unauthorized")
    client = new_client()
    failure = await failure_of(client.request(QUERY))
    server.call = drop
    broken = await failure_of(client.request("mutation { ok }"))
    shown = [repr(client), repr(FreshToken("t1")), caplog.text]
    for each in (failure, broken):
        shown += [*traceback.format_exception(each), repr(each), repr(vars(each))]
    assert "the-client-secret" not in "".join(shown)
    assert "Bearer t" not in "".join(shown)
    assert "the-client-secret" not in "".join(request.path for request in server.seen)


@pytest.mark.parametrize(
    "options",
    [
        {"client_id": "id"},
        {"client_id": "id", "client_secret": "s", "token": "t"},
        {"url": "https://user:pass@example.com", "token": "t"},
        {"url": "example.com", "token": "t"},
        {"url": "https://[", "token": "t"},
    ],
)
def test_options_that_do_not_go_together_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError) as caught:
        AsyncClient(**{"url": "https://example.com", **options})
    assert "pass" not in str(caught.value).replace("password", "")
