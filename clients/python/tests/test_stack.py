"""Against the real services, which test/stack.test.ts starts. The other suites imitate servers that misbehave."""

from __future__ import annotations

import asyncio
import json
import os
import threading
from datetime import datetime
from pathlib import Path
from typing import Any

import gql
import pytest

from tollgate_client import (
    AsyncClient,
    AuthenticationError,
    Client,
    DataApiError,
    PlanError,
    RequestError,
    TollgateError,
)
from tollgate_client.gql import TollgateAsyncTransport

if "TOLLGATE_STACK" not in os.environ:
    pytest.skip("there is no stack", allow_module_level=True)

STACK: dict[str, Any] = json.loads(os.environ["TOLLGATE_STACK"])
JAPAN = '{ country(code: "JP") { name } }'


def options(application: str) -> dict[str, Any]:
    credential = STACK["applications"][application]
    return {"url": STACK["url"], "client_id": credential["clientId"], "client_secret": credential["clientSecret"]}


async def request_of_stack(path: str) -> None:
    """The suite acts on the services where a file appears, and removes it when that is done."""
    Path(STACK["directory"], path).touch()
    while Path(STACK["directory"], path).exists():  # noqa: ASYNC110, ASYNC240
        await asyncio.sleep(0.05)


def test_a_call_tells_its_data_its_cost_and_what_is_left() -> None:
    with Client(**options("limited")) as client:
        estimate = client.estimate("{ countries(first: 100) { name } }")
        result = client.request("query Land($code: ID!) { country(code: $code) { name } }", {"code": "CH"})
        usage, credits = client.usage(), client.credits()
    assert estimate["points"] is not None and estimate["points"] > 100
    assert (estimate["points_remaining"], estimate["allowed"], estimate["bounded"]) == (1_000, True, True)
    assert result.data == {"country": {"name": "Switzerland"}}
    assert (result.cost, result.remaining, result.estimate, result.billing_status) == (2, 998, 2, "active")
    assert result.rate is not None and (result.rate.remaining, result.rate.reset_sec) == (59, 1)
    assert result.request_id is not None and len(result.request_id) == 32
    assert usage["billing_period"]["limits"]["points_limit"] == 1_000
    assert credits["credits"]["grants"] == []


def test_a_hundred_threads_share_a_token() -> None:
    with Client(**options("wide")) as client:
        failures: list[BaseException] = []

        def call() -> None:
            try:
                client.request(JAPAN)
            except BaseException as error:
                failures.append(error)

        threads = [threading.Thread(target=call) for _ in range(100)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert failures == []


def test_refusals_are_typed() -> None:
    with Client(**options("empty")) as client:
        with pytest.raises(PlanError) as plan:
            client.request(JAPAN)
        with pytest.raises(RequestError) as request:
            client.request("{ country(")
    assert (plan.value.code, plan.value.status, plan.value.limit, plan.value.remaining) == (
        "points_limit_exceeded", 402, 0, 0,
    )  # fmt: skip
    assert isinstance(plan.value.resets_at, datetime)
    assert request.value.code == "document_invalid"


def test_errors_of_the_data_api_are_typed() -> None:
    with Client(**options("wide")) as client, pytest.raises(DataApiError) as caught:
        client.request("{ noSuchField }")
    assert caught.value.code == "data_api_error"


@pytest.mark.anyio
async def test_a_revoked_application_gets_no_new_token() -> None:
    async with AsyncClient(**options("revoked")) as client:
        await client.request(JAPAN)
        await request_of_stack("revoke")
        with pytest.raises(AuthenticationError) as caught:
            await client.request(JAPAN)
    assert (caught.value.code, caught.value.status) == ("invalid_client", 401)


@pytest.mark.anyio
async def test_a_token_that_expires_is_replaced_calls_and_subscriptions_go_on() -> None:
    async with AsyncClient(**options("shortLived")) as client:
        count = 0
        async for event in client.subscribe(
            "subscription { countryOfTheMoment(intervalMs: 500, times: 160) { code } }"
        ):
            count += 1
            if event.gap is not None:
                assert event.gap.reason == "unauthorized"
                break
        assert count > 60
        assert (await client.request(JAPAN)).cost == 2


def test_a_subscription_ends_when_it_is_complete_and_when_the_caller_leaves_it() -> None:
    query = "subscription { countryOfTheMoment(intervalMs: 100, times: %d) { code } }"
    with Client(**options("oneSubscription")) as client:
        assert len([event.data["countryOfTheMoment"]["code"] for event in client.subscribe(query % 3)]) == 3
        for event in client.subscribe(query % 600):
            assert event.data is not None
            break
        assert next(client.subscribe(query % 3)).data is not None


def test_a_subscription_that_is_refused_is_a_typed_error() -> None:
    with Client(**options("noSubscription")) as client, pytest.raises(TollgateError) as caught:
        next(client.subscribe("subscription { countryOfTheMoment(intervalMs: 100, times: 3) { code } }"))
    assert (caught.value.code, caught.value.limit) == ("subscription_limit_exceeded", 0)


@pytest.mark.anyio
async def test_gql_calls_and_subscribes() -> None:
    async with AsyncClient(**options("wide")) as client:
        async with gql.Client(transport=TollgateAsyncTransport(client)) as session:
            assert await session.execute(gql.gql(JAPAN)) == {"country": {"name": "Japan"}}
            query = gql.gql("subscription { countryOfTheMoment(intervalMs: 100, times: 3) { code } }")
            assert len([event async for event in session.subscribe(query)]) == 3


@pytest.mark.anyio
async def test_a_subscription_resumes_after_the_gateway_has_restarted_and_tells_the_gap() -> None:
    async with AsyncClient(**options("wide")) as client:
        gap, restart = None, None
        async for event in client.subscribe(
            "subscription { countryOfTheMoment(intervalMs: 100, times: 600) { code } }"
        ):
            restart = restart or asyncio.create_task(request_of_stack("restart"))
            if gap is not None:
                assert event.data is not None
                break
            gap = event.gap
        assert gap is not None and gap.reason == "service_restart" and gap.start < gap.end
        assert restart is not None
        await restart
