"""Calls a GraphQL data API behind Tollgate."""

from ._api import Credits, Estimate, Usage
from ._async_client import AsyncClient, TokenSource
from ._client import Client
from .errors import (
    AccessDeniedError,
    AuthenticationError,
    DataApiError,
    ErrorCode,
    PlanError,
    RateLimitError,
    RequestError,
    TollgateError,
    TransportError,
    UnavailableError,
)
from .types import FreshToken, Gap, Rate, Result, SubscriptionEvent

__all__ = [
    "AccessDeniedError",
    "AsyncClient",
    "AuthenticationError",
    "Client",
    "Credits",
    "DataApiError",
    "ErrorCode",
    "Estimate",
    "FreshToken",
    "Gap",
    "PlanError",
    "Rate",
    "RateLimitError",
    "RequestError",
    "Result",
    "SubscriptionEvent",
    "TokenSource",
    "TollgateError",
    "TransportError",
    "UnavailableError",
    "Usage",
]
