"""Transports for `gql` (`pip install tollgate-client[gql]`)."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import asdict
from typing import Any

from gql import GraphQLRequest
from gql.transport import AsyncTransport, Transport
from graphql import ExecutionResult, GraphQLError, print_ast

from ._async_client import AsyncClient
from ._client import Client
from .errors import DataApiError
from .types import Result


class TollgateTransport(Transport):
    """`gql.Client(transport=TollgateTransport(client))`. The client stays open until its owner closes it."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def execute(self, request: GraphQLRequest, *args: Any, **kwargs: Any) -> ExecutionResult:
        try:
            return _executed(self._client.request(**_parts(request)))
        except DataApiError as error:
            return _failed(error)


class TollgateAsyncTransport(AsyncTransport):
    """`gql.Client(transport=TollgateAsyncTransport(client))`, also for subscriptions.

    Their gaps are in `extensions["gap"]` of a result without data.
    """

    def __init__(self, client: AsyncClient) -> None:
        self._client = client

    async def connect(self) -> None:
        pass

    async def close(self) -> None:
        pass

    async def execute(self, request: GraphQLRequest) -> ExecutionResult:
        try:
            return _executed(await self._client.request(**_parts(request)))
        except DataApiError as error:
            return _failed(error)

    async def subscribe(self, request: GraphQLRequest) -> AsyncGenerator[ExecutionResult, None]:
        events = self._client.subscribe(**_parts(request))
        try:
            async for event in events:
                if event.gap is not None:
                    yield ExecutionResult(extensions={"gap": asdict(event.gap)})
                else:
                    errors = [_error_of(each) for each in event.errors] or None
                    yield ExecutionResult(event.data, errors, dict(event.extensions))
        finally:
            await events.aclose()


def _parts(request: GraphQLRequest) -> dict[str, Any]:
    variables, name = request.variable_values, request.operation_name
    return {"query": print_ast(request.document), "variables": variables, "operation_name": name}


def _executed(result: Result) -> ExecutionResult:
    facts = {"cost": result.cost, "remaining": result.remaining, "request_id": result.request_id}
    return ExecutionResult(result.data, None, {**result.extensions, "tollgate": facts})


def _failed(error: DataApiError) -> ExecutionResult:
    """gql raises TransportQueryError for errors of a result. Refusals of Tollgate are raised as they are."""
    if error.code != "data_api_error":
        raise error
    return ExecutionResult(error.data, [_error_of(each) for each in error.errors])


def _error_of(error: Any) -> GraphQLError:
    return GraphQLError(error["message"], path=error.get("path"), extensions=error.get("extensions"))
