"""Authlib as an application's developer would use it: prints the address for the browser, reads where it came back."""

import json
import sys

from authlib.common.security import generate_token
from authlib.integrations.httpx_client import OAuth2Client

metadata, client_id, client_secret, redirect_uri = json.loads(sys.stdin.readline())
client = OAuth2Client(
    client_id,
    client_secret,
    scope="api",
    redirect_uri=redirect_uri,
    code_challenge_method="S256",
    token_endpoint_auth_method="none" if client_secret is None else "client_secret_basic",
)
verifier = generate_token(48)
address, state = client.create_authorization_url(metadata["authorization_endpoint"], code_verifier=verifier)
print(json.dumps({"address": address}), flush=True)
came_back = json.loads(sys.stdin.readline())
first = client.fetch_token(
    metadata["token_endpoint"], authorization_response=came_back, state=state, code_verifier=verifier
)
second = client.refresh_token(metadata["token_endpoint"], first["refresh_token"])
print(json.dumps({"first": first, "second": second}), flush=True)
