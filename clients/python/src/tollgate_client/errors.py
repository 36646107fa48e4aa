"""What a call can fail with. Branch on the class or on `code`, not on the message."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, get_args

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


AuthenticationCode = Literal["unauthorized", "invalid_credentials", "invalid_client", "invalid_grant", "invalid_token"]
AccessDeniedCode = Literal[
    "forbidden", "csrf_token_required", "confirmation_required", "account_blocked",
    "account_deletion_pending", "insufficient_role", "team_role", "sso_required",
    "unauthorized_client",
]  # fmt: skip
PlanCode = Literal[
    "no_active_billing_period", "points_limit_exceeded", "budget_exceeded", "time_limit_exceeded",
    "traffic_limit_exceeded", "no_billing_period", "mcp_not_in_plan", "mcp_mutations_not_in_plan",
]  # fmt: skip
RateLimitCode = Literal[
    "rate_limit_exceeded", "session_limit_exceeded", "subscription_limit_exceeded", "too_many_streams",
    "too_many_requests", "too_many_initialisations", "slow_consumer", "points_reserved",
]  # fmt: skip
RequestCode = Literal[
    "invalid_request", "batch_too_large", "document_invalid", "document_too_deep", "document_too_large",
    "too_many_aliases", "too_many_root_fields", "too_many_tokens", "too_many_directives",
    "introspection_disabled", "subscriptions_only", "not_found", "method_not_allowed", "request_timeout",
    "payload_too_large", "uri_too_long", "unsupported_media_type", "header_fields_too_large",
    "http_version_not_supported", "unsupported_grant_type", "invalid_scope", "invalid_target",
    "duplicate_operation", "invalid_redirect_uri", "invalid_client_metadata",
    "call_too_expensive", "price_unknown",
    "document_unknown", "document_not_trusted", "persisted_query_mismatch", "PERSISTED_QUERY_NOT_FOUND",
]  # fmt: skip
UnavailableCode = Literal[
    "connection_init_timeout", "idle_timeout", "internal_error", "server_error", "service_restart",
    "upstream_unreachable", "upstream_timeout", "upstream_closed", "service_unavailable",
    "temporarily_unavailable",
]  # fmt: skip

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
