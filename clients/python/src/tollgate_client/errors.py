"""What a call can fail with. Branch on the class or on `code`, not on the message."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, get_args

from ._codes import (
    AccessDeniedCode,
    AuthenticationCode,
    PlanCode,
    RateLimitCode,
    RequestCode,
    UnavailableCode,
)

_MAX_MESSAGE_CHARACTERS = 500


class TollgateError(Exception):
    """The base of all errors of this library. Codes that it doesn't know have no other class.

    It never holds a token, a secret or a body of an unknown form.
    """

    def __init__(
        self,
        message: str,
        *,
        code: ErrorCode | str = "unknown",
        status: int | None = None,
        request_id: str | None = None,
        limit: float | None = None,
        remaining: float | None = None,
        retry_after: float | None = None,
        resets_at: datetime | None = None,
        details: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(message[:_MAX_MESSAGE_CHARACTERS])
        self.code = code
        """docs/errors.md lists them all."""
        self.status = status
        """Of the HTTP response; None if there was none."""
        self.request_id = request_id
        """For support."""
        self.limit = limit
        """Of the plan or budget."""
        self.remaining = remaining
        self.retry_after = retry_after
        """Seconds to wait, from the response on."""
        self.resets_at = resets_at
        """When the limit resets: at the end of the billing period or of the budget's window."""
        self.details = details
        """What else the refusal states, such as `budget`, `buy_url` or `locations`."""


class AuthenticationError(TollgateError):
    """The credentials or the token aren't accepted."""


class AccessDeniedError(TollgateError):
    """The credential is valid, but not for this."""


class PlanError(TollgateError):
    """The plan, a budget or the billing period is used up."""


class RateLimitError(TollgateError):
    """Too many at a time: wait `retry_after`."""


class RequestError(TollgateError):
    """The request must be changed."""


class UnavailableError(TollgateError):
    """A part of the service is unavailable."""


class TransportError(TollgateError):
    """No usable response, such as `connection_failed`, `timeout`, `redirected` or `invalid_response`."""


class DataApiError(TollgateError):
    """The data API's own: `data_api_error` for errors of a GraphQL result, else `upstream_error`."""

    errors: Sequence[Mapping[str, Any]] = ()
    data: Any = None
    """Of the result, where the errors left some."""
    cost: float | None = None
    """Points that the call cost."""


ErrorCode = Literal[
    AuthenticationCode, AccessDeniedCode, PlanCode, RateLimitCode, RequestCode, UnavailableCode
]  # fmt: skip
"""The codes of docs/errors.md that a caller can get; a test compares both."""

CLASSES: Mapping[str, type[TollgateError]] = {
    code: error
    for error, codes in (
        (AuthenticationError, AuthenticationCode),
        (AccessDeniedError, AccessDeniedCode),
        (PlanError, PlanCode),
        (RateLimitError, RateLimitCode),
        (RequestError, RequestCode),
        (UnavailableError, UnavailableCode),
    )
    for code in get_args(codes)
}
