"""Transports for `gql` (`pip install tollgate-client[gql]`)."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import asdict
from typing import Any

from gql import GraphQLRequest
from gql.transport import AsyncTransport, Transport
from graphql import ExecutionResult, GraphQLError, print_ast

from ._async_client import AsyncClient
from ._client import Client
from .errors import DataApiError
from .types import SubscriptionEvent


class TollgateAsyncTransport(AsyncTransport):
    """`gql.Client(transport=TollgateAsyncTransport(client))`, also for subscriptions.

    Their gaps are in `extensions["gap"]` of a result without data. The client stays open until its owner closes it.
    """

    def __init__(self, client: AsyncClient) -> None:
        self._client = client

    async def connect(self) -> None:
        pass

    async def close(self) -> None:
        pass

    async def execute(self, request: GraphQLRequest) -> ExecutionResult:
        try:
            result = await self._client.request(**_parts(request))
        except DataApiError as error:
            # gql raises TransportQueryError for errors of a result. Refusals of Tollgate are raised as they are.
            if error.code != "data_api_error":
                raise
            return ExecutionResult(error.data, _errors_of(error))
        facts = {"cost": result.cost, "remaining": result.remaining, "request_id": result.request_id}
        return ExecutionResult(result.data, None, {**result.extensions, "tollgate": facts})

    async def subscribe(self, request: GraphQLRequest) -> AsyncGenerator[ExecutionResult, None]:
        async with aclosing(self._client.subscribe(**_parts(request))) as events:
            async for event in events:
                gap = {} if event.gap is None else {"gap": asdict(event.gap)}
                yield ExecutionResult(event.data, _errors_of(event) or None, {**event.extensions, **gap})


class TollgateTransport(Transport):
    """`gql.Client(transport=TollgateTransport(client))`. The client stays open until its owner closes it."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def execute(self, request: GraphQLRequest, *args: Any, **kwargs: Any) -> ExecutionResult:
        transport = TollgateAsyncTransport(self._client._engine)  # pyright: ignore[reportPrivateUsage]
        return self._client._run(transport.execute(request))  # pyright: ignore[reportPrivateUsage]


def _parts(request: GraphQLRequest) -> dict[str, Any]:
    variables, name = request.variable_values, request.operation_name
    return {"query": print_ast(request.document), "variables": variables, "operation_name": name}


def _errors_of(failed: DataApiError | SubscriptionEvent) -> list[GraphQLError]:
    return [
        GraphQLError(error["message"], path=error.get("path"), extensions=error.get("extensions"))
        for error in failed.errors
    ]
