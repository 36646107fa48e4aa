"""Reads responses and refusals, in the forms of docs/errors.md. Whatever is sent, nothing else is raised."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from typing import Any, cast

from .errors import ERROR_CLASSES, DataApiError, TollgateError, TransportError
from .types import Rate, Result

Headers = Mapping[str, str]

_NO_HEADERS: Headers = {}
_STATED = ("code", "error", "detail", "title", "error_description")
"""By a problem document (RFC 9457) or an OAuth error."""


def error_of_refusal(
    refusal: Mapping[str, Any], status: int | None = None, headers: Headers = _NO_HEADERS
) -> TollgateError:
    """Of a refusal's GraphQL error, in a response or in a message of a WebSocket."""
    details = object_of(refusal.get("extensions"))
    code = _text(details.get("code")) or "unknown"
    wait, wait_sec = retry_after(headers), number_of(details.get("retry_after_sec"))
    return ERROR_CLASSES.get(code, TollgateError)(
        _text(refusal.get("message")) or "Error",
        code=code,
        status=status,
        request_id=_text(details.get("request_id")) or headers.get("x-request-id"),
        limit=number_of(details.get("limit")),
        remaining=number_of(details.get("remaining")),
        retry_after=wait if wait is not None or wait_sec is None else max(wait_sec, 0),
        resets_at=_time(details.get("resets_at", details.get("period_ended_at"))),
        details=details,
    )


def error_of_response(status: int, headers: Headers, body: object) -> TollgateError:
    """Of a response that isn't 2xx."""
    rest = dict(object_of(body))
    errors = graphql_errors(rest.pop("errors", None))
    first = errors[0] if errors else None
    if "proxy-status" in headers:
        message = first["message"] if first else f"The data API answered with status {status}."
        code = "data_api_error" if first else "upstream_error"
        wait, cost = retry_after(headers), _number_field(headers, "x-points-cost")
        return DataApiError(message, code=code, status=status, retry_after=wait, errors=errors, cost=cost)
    if first and "code" in object_of(first.get("extensions")):
        return error_of_refusal(first, status, headers)
    own, oauth, *texts = (_text(rest.pop(name, None)) for name in _STATED)
    # A body of an unknown form, such as a proxy's that repeats the request, isn't kept.
    stated = own or oauth
    extensions = {**rest, "code": stated} if stated else {"code": f"http_{status}"}
    message = next(filter(None, texts), f"The server answered with status {status}.")
    return error_of_refusal({"message": message, "extensions": extensions}, status, headers)


def error_of_close(close_code: int, reason: str) -> TollgateError:
    """A close of a WebSocket, whose reason begins with a code."""
    match = re.fullmatch(r"([a-z_]+)(?:: ?(.*))?", reason, re.DOTALL)
    code, text = match.groups() if match else ("connection_failed", None)
    message = text or f"The connection was closed with code {close_code}."
    kind = ERROR_CLASSES.get(code, TollgateError) if match else TransportError
    return kind(message, code=code, details={"close_code": close_code})


def result_of(status: int, headers: Headers, body: object) -> Result:
    """Of a 2xx response of the data endpoint."""
    fields = object_of(body)
    cost = _number_field(headers, "x-points-cost")
    known: dict[str, Any] = {"status": status, "request_id": headers.get("x-request-id")}
    if errors := graphql_errors(fields.get("errors")):
        # The data API's errors have no request ID of Tollgate.
        if "request_id" in object_of(errors[0].get("extensions")):
            raise error_of_refusal(errors[0], status, headers)
        message, data = errors[0]["message"], fields.get("data")
        raise DataApiError(message, code="data_api_error", errors=errors, data=data, cost=cost, **known)
    if "data" not in fields:
        raise TransportError("The response is not a GraphQL result.", code="invalid_response", **known)
    rate = re.search(r";r=([0-9]{1,15});t=([0-9]{1,15})", headers.get("ratelimit", ""))
    return Result(
        data=fields["data"],
        extensions=object_of(fields.get("extensions")),
        cost=cost,
        remaining=_number_field(headers, "x-points-remaining"),
        estimate=_number_field(headers, "x-points-estimate"),
        rate=Rate(int(rate[1]), int(rate[2])) if rate else None,
        billing_status=headers.get("x-billing-status"),
        request_id=known["request_id"],
    )


def retry_after(headers: Headers) -> float | None:
    """What `Retry-After` asks for, in seconds: a number, or a date (RFC 9110, section 10.2.3).

    A date is read against the response's own `Date`, because the local clock may be wrong.
    """
    value = headers.get("retry-after", "").strip()
    if re.fullmatch(r"[0-9]+", value):
        return float(value)
    try:
        until, now = (parsedate_to_datetime(text) for text in (value, headers.get("date", "")))
        return max((_utc(until) - _utc(now)).total_seconds(), 0)
    except (ValueError, TypeError, OverflowError):
        return None


def graphql_errors(value: object) -> list[dict[str, Any]]:
    if not isinstance(value, list):
        return []
    errors = [object_of(each) for each in cast("list[object]", value)]
    return [{**each, "message": _text(each.get("message")) or "Error"} for each in errors]


def object_of(value: object) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def number_of(value: object) -> float | None:
    return value if isinstance(value, (int, float)) and math.isfinite(value) else None


def _number_field(headers: Headers, name: str) -> float | None:
    value = headers.get(name, "")
    if re.fullmatch(r"[0-9]{1,18}", value):
        return int(value)
    return float(value) if re.fullmatch(r"[0-9]+(\.[0-9]+)?", value) else None


def _time(value: object) -> datetime | None:
    try:
        # Python 3.10 doesn't read `Z`.
        return _utc(datetime.fromisoformat(re.sub(r"Z$", "+00:00", _text(value) or "")))
    except ValueError:
        return None


def _utc(time: datetime) -> datetime:
    return time if time.tzinfo else time.replace(tzinfo=timezone.utc)
