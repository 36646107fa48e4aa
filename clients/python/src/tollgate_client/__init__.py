"""Calls a GraphQL data API behind Tollgate."""

from ._api import *
from ._async_client import AsyncClient as AsyncClient
from ._async_client import TokenSource as TokenSource
from ._client import Client as Client
from ._codes import ErrorCode as ErrorCode
from .errors import *
from .types import *
