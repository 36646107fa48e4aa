from __future__ import annotations

import asyncio

import pytest

from tollgate_client import FreshToken
from tollgate_client._tokens import Tokens

pytestmark = pytest.mark.anyio


class Issuer:
    """By a clock of its own, and as told by each try in turn: a life in seconds, or an error."""

    def __init__(self, *tries: float | Exception, takes: float = 0) -> None:
        self.now = 1_000.0
        self.asked = 0
        self.tries = tries
        self.takes = takes
        self.tokens = Tokens(self.obtain, lambda: self.now)

    async def obtain(self) -> FreshToken:
        self.asked += 1
        self.now += self.takes
        outcome = self.tries[min(self.asked, len(self.tries)) - 1]
        if isinstance(outcome, Exception):
            raise outcome
        return FreshToken(f"t{self.asked}", outcome)


async def settle() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


async def test_a_token_of_an_hour_is_renewed_in_its_last_minutes_and_no_caller_waits() -> None:
    issuer = Issuer(3_600)
    assert await issuer.tokens.get() == "t1"
    issuer.now += 3_600 - 91
    await issuer.tokens.get()
    await settle()
    assert issuer.asked == 1
    issuer.now += 62
    assert await issuer.tokens.get() == "t1"
    await settle()
    assert await issuer.tokens.get() == "t2"
    assert issuer.asked == 2


@pytest.mark.parametrize("life", [0.5, 1, 59, 61, 600, 601, 86_400, 10_000_000])
async def test_renewal_lies_between_85_percent_of_the_life_and_its_end(life: float) -> None:
    issuer = Issuer(life)
    started = issuer.now
    await issuer.tokens.get()
    issuer.now = started + life * 0.849
    await issuer.tokens.get()
    await settle()
    assert issuer.asked == 1
    issuer.now = started + life * 0.9999999
    await issuer.tokens.get()
    await settle()
    assert issuer.asked == 2


async def test_while_the_token_lives_a_failed_renewal_is_silent_and_tried_later() -> None:
    issuer = Issuer(100, OSError("away"), 100)
    await issuer.tokens.get()
    issuer.now += 96
    for _ in range(3):
        assert await issuer.tokens.get() == "t1"
        await settle()
    assert issuer.asked == 2
    issuer.now += 2.001
    await issuer.tokens.get()
    await settle()
    assert await issuer.tokens.get() == "t3"


async def test_the_life_counts_from_before_the_request() -> None:
    issuer = Issuer(10, takes=4)
    assert await issuer.tokens.get() == "t1"
    issuer.now += 6.001
    assert await issuer.tokens.get() == "t2"


async def test_a_refused_token_is_replaced_once_however_many_refuse_it() -> None:
    issuer = Issuer(3_600)
    first = await issuer.tokens.get()
    issuer.tokens.refuse(first)
    assert await issuer.tokens.get() == "t2"
    issuer.tokens.refuse(first)
    assert await issuer.tokens.get() == "t2"
    assert issuer.asked == 2


@pytest.mark.parametrize("life", [0, -5])
async def test_a_token_without_a_life_is_used_by_those_that_waited_for_it(life: float) -> None:
    issuer = Issuer(life)
    assert [*await asyncio.gather(issuer.tokens.get(), issuer.tokens.get())] == ["t1", "t1"]
    assert await issuer.tokens.get() == "t2"
