"""What calls return."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, TypedDict


@dataclass(frozen=True)
class FreshToken:
    """Without `expires_in` (seconds) the token is used until it is refused."""

    access_token: str = field(repr=False)
    expires_in: float | None = None


@dataclass(frozen=True)
class Rate:
    """Calls per minute."""

    remaining: int
    reset_sec: int


@dataclass(frozen=True)
class Result:
    data: Any
    extensions: Mapping[str, Any]
    cost: float | None
    """Points."""
    remaining: float | None
    """Points left in the billing period; None without a limit."""
    estimate: float | None
    """Points that it could cost at most, if the server estimates."""
    rate: Rate | None
    """None without a limit."""
    billing_status: str | None
    """`active` or `grace`."""
    request_id: str | None


@dataclass(frozen=True)
class Gap:
    """Results between these times may be missing; `reason` is a code of docs/errors.md, or `connection_failed`."""

    start: datetime
    end: datetime
    reason: str


@dataclass(frozen=True)
class SubscriptionEvent:
    """A result, or a gap alone."""

    data: Any = None
    errors: Sequence[Mapping[str, Any]] = ()
    extensions: Mapping[str, Any] = field(default_factory=dict[str, Any])
    gap: Gap | None = None


class Product(TypedDict):
    name: str


class BillingPeriod(TypedDict):
    started_at: str
    ended_at: str
    """Inclusive."""
    plan_name: str
    product: Product | None
    limits: dict[str, float]
    """Such as `points_limit`; 0 without such a limit."""
    usage: dict[str, float]
    """Such as `points_usage`."""
    description: dict[str, Any]


class Usage(TypedDict):
    """Response of `GET /api/usage`, as docs/openapi.json describes it."""

    account_id: int
    payer_id: int
    """The account that pays: the manager's, in a team."""
    status: Literal["active", "grace", "blocked", "expired"]
    billing_period: BillingPeriod


class Grant(TypedDict):
    credit_id: int
    status: str
    points: float
    points_remaining: float
    source: str
    priority: int
    effective_at: str
    expires_at: str | None
    note: str | None


class PointCredits(TypedDict):
    points_remaining: float
    overage_points_remaining: float
    """Further points up to the cap, which are charged by use."""
    overuse_points: float
    grants: list[Grant]


class Credits(TypedDict):
    """Response of `GET /api/credits`."""

    account_id: int
    payer_id: int
    credits: PointCredits


class Estimate(TypedDict):
    """Of `/graphql/estimate`: what a call would cost at most, and whether the plan would admit it."""

    points: float | None
    """None if it can't be computed."""
    points_remaining: float | None
    allowed: bool
    reason: str | None
    """Why not: a code of docs/errors.md."""
    bounded: bool
    """Whether the cost can't exceed `points`."""
    fields: list[dict[str, Any]]
    """The fields that cost most."""
