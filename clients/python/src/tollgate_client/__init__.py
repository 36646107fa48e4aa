"""Calls a GraphQL data API behind Tollgate."""

from ._api import Credits as Credits
from ._api import Estimate as Estimate
from ._api import Usage as Usage
from ._async_client import AsyncClient as AsyncClient
from ._async_client import TokenSource as TokenSource
from ._client import Client as Client
from ._codes import ErrorCode as ErrorCode
from .errors import AccessDeniedError as AccessDeniedError
from .errors import AuthenticationError as AuthenticationError
from .errors import DataApiError as DataApiError
from .errors import PlanError as PlanError
from .errors import RateLimitError as RateLimitError
from .errors import RequestError as RequestError
from .errors import TollgateError as TollgateError
from .errors import TransportError as TransportError
from .errors import UnavailableError as UnavailableError
from .types import FreshToken as FreshToken
from .types import Gap as Gap
from .types import Rate as Rate
from .types import Result as Result
from .types import SubscriptionEvent as SubscriptionEvent
