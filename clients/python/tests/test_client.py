from __future__ import annotations

import inspect
import os
import threading
from collections.abc import Iterator
from concurrent.futures import CancelledError, ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import gql
import pytest
from gql.transport.exceptions import TransportQueryError

from tollgate_client import AsyncClient, Client, PlanError, TollgateError
from tollgate_client.gql import TollgateAsyncTransport, TollgateTransport


class Server(ThreadingHTTPServer):
    request_queue_size = 200
    daemon_threads = True
    seen: list[str]
    has_begun: threading.Event
    is_stuck: threading.Event
    """Until it is set."""
    answer: tuple[int, bytes] = (200, b'{"data":{"ok":true}}')


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Server

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        is_token = self.path == "/oauth2/token"
        self.server.seen.append(self.path)
        self.server.has_begun.set()
        self.server.is_stuck.wait(10)
        token = b'{"access_token":"t","expires_in":3600}'
        status, body = (200, token) if is_token else self.server.answer
        self.send_response(status)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def handle(self) -> None:
        try:
            super().handle()
        except ConnectionError:
            pass

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def server() -> Iterator[Server]:
    server = Server(("127.0.0.1", 0), Handler)
    server.seen, server.has_begun, server.is_stuck = [], threading.Event(), threading.Event()
    server.is_stuck.set()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


def threads_of_clients() -> list[threading.Thread]:
    return [each for each in threading.enumerate() if each.name == "tollgate-client"]


@pytest.fixture
def client(server: Server) -> Iterator[Client]:
    with Client(f"http://127.0.0.1:{server.server_port}", client_id="id", client_secret="s") as client:
        yield client


def test_its_options_are_those_of_the_async_client() -> None:
    assert inspect.signature(Client) == inspect.signature(AsyncClient)
    assert inspect.signature(Client.request) == inspect.signature(AsyncClient.request)


def test_threads_share_one_token_request(server: Server, client: Client) -> None:
    with ThreadPoolExecutor(50) as pool:
        results = list(pool.map(lambda _: client.request("{ ok }"), range(200)))
    assert [result.data for result in results] == [{"ok": True}] * 200
    assert server.seen.count("/oauth2/token") == 1


def test_errors_are_those_of_the_async_client(server: Server, client: Client) -> None:
    server.answer = (402, b'{"errors":[{"message":"Up","extensions":{"code":"budget_exceeded"}}]}')
    with pytest.raises(PlanError):
        client.request("{ ok }")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_forked_process_has_a_loop_and_connections_of_its_own(server: Server, client: Client) -> None:
    assert client.request("{ ok }").data == {"ok": True}
    child = os.fork()
    if child == 0:
        try:
            os._exit(0 if client.request("{ ok }").data == {"ok": True} else 1)
        finally:
            os._exit(2)
    assert os.waitpid(child, 0)[1] == 0
    assert client.request("{ ok }").data == {"ok": True}
    assert server.seen.count("/oauth2/token") == 2


def test_a_closed_client_says_so_and_leaves_no_thread(server: Server) -> None:
    client = Client(f"http://127.0.0.1:{server.server_port}", token="t")
    client.request("{ ok }")
    (thread,) = threads_of_clients()
    client.close()
    client.close()
    assert not thread.is_alive()
    with pytest.raises(RuntimeError):
        client.request("{ ok }")


def test_closing_it_ends_the_calls_of_other_threads(server: Server) -> None:
    server.is_stuck.clear()
    client = Client(f"http://127.0.0.1:{server.server_port}", token="t")
    with ThreadPoolExecutor(1) as pool:
        call = pool.submit(client.request, "mutation { ok }")
        assert server.has_begun.wait(10)
        client.close()
        with pytest.raises((TollgateError, CancelledError)):
            call.result(10)
    server.is_stuck.set()


def test_closing_it_does_not_wait_for_a_function_that_gets_a_token(server: Server) -> None:
    has_begun, may_end = threading.Event(), threading.Event()

    def token() -> str:
        has_begun.set()
        may_end.wait(10)
        return "t"

    client = Client(f"http://127.0.0.1:{server.server_port}", token=token)
    with ThreadPoolExecutor(1) as pool:
        call = pool.submit(client.request, "{ ok }")
        assert has_begun.wait(10)
        closing = threading.Thread(target=client.close)
        closing.start()
        closing.join(5)
        assert not closing.is_alive()
        may_end.set()
        with pytest.raises((TollgateError, CancelledError)):
            call.result(10)


def test_a_client_that_is_forgotten_leaves_no_thread(server: Server) -> None:
    client = Client(f"http://127.0.0.1:{server.server_port}", token="t")
    client.request("{ ok }")
    (thread,) = threads_of_clients()
    del client
    thread.join(5)
    assert not thread.is_alive()


def test_gql_sends_through_it(server: Server, client: Client) -> None:
    session = gql.Client(transport=TollgateTransport(client))
    assert session.execute(gql.gql("{ ok }")) == {"ok": True}
    server.answer = (200, b'{"data":{"ok":null},"errors":[{"message":"No","path":["ok"]}]}')
    with pytest.raises(TransportQueryError) as caught:
        session.execute(gql.gql("{ ok }"))
    assert caught.value.data == {"ok": None}
    server.answer = (402, b'{"errors":[{"message":"Up","extensions":{"code":"budget_exceeded"}}]}')
    with pytest.raises(PlanError):
        session.execute(gql.gql("{ ok }"))


@pytest.mark.anyio
async def test_gql_sends_through_the_async_client(server: Server) -> None:
    async with AsyncClient(f"http://127.0.0.1:{server.server_port}", token="t") as client:
        async with gql.Client(transport=TollgateAsyncTransport(client)) as session:
            assert await session.execute(gql.gql("{ ok }")) == {"ok": True}
