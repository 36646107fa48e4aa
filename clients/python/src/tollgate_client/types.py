"""What calls return."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

__all__ = ["FreshToken", "Gap", "Rate", "Result", "SubscriptionEvent"]


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
