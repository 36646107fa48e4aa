from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, InitVar, dataclass
from datetime import datetime
from typing import Any

from ._codes import ErrorCode

_MAX_MESSAGE_CHARACTERS = 500


@dataclass(eq=False, repr=False)
class TollgateError(Exception):
    """The base of all errors of this library. Codes that it doesn't know have no other class.

    It never holds a token, a secret or a body of an unknown form.
    """

    message: InitVar[str]
    _: KW_ONLY
    code: ErrorCode | str = "unknown"
    """docs/errors.md lists them all."""
    status: int | None = None
    """Of the HTTP response; None if there was none."""
    request_id: str | None = None
    """For support."""
    limit: float | None = None
    """Of the plan or budget."""
    remaining: float | None = None
    retry_after: float | None = None
    """Seconds to wait, from the response on."""
    resets_at: datetime | None = None
    """When the limit resets: at the end of the billing period or of the budget's window."""
    details: Mapping[str, Any] | None = None
    """What else the refusal states, such as `budget`, `buy_url` or `locations`."""

    def __post_init__(self, message: str) -> None:
        super().__init__(message[:_MAX_MESSAGE_CHARACTERS])


@dataclass(eq=False, repr=False)
class DataApiError(TollgateError):
    """The data API's own: `data_api_error` for errors of a GraphQL result, else `upstream_error`."""

    _: KW_ONLY
    errors: Sequence[Mapping[str, Any]] = ()
    data: Any = None
    """Of the result, where the errors left some."""
    cost: float | None = None
    """Points that the call cost."""
