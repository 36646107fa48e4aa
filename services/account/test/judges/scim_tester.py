"""scim2-tester, unmodified, against a server: prints each check as a line of JSON."""

import json
import os
import time
import uuid

import httpx2
from scim2_client.engines.httpx2 import SyncSCIMClient
from scim2_tester import check_server


class Addresses:
    """Examples of a userName, which has to be an address in a domain that the team has proven."""

    def __len__(self):
        return 1

    def __getitem__(self, index):
        return f"{uuid.uuid4()}@{os.environ['SCIM_DOMAIN']}"


class WaitingTransport(httpx2.HTTPTransport):
    """Waits as directories do when the server has had too many requests in a second (RFC 6585, 4)."""

    def handle_request(self, request):
        while True:
            response = super().handle_request(request)
            if response.status_code != 429:
                return response
            response.close()
            time.sleep(int(response.headers["Retry-After"]))


client = SyncSCIMClient(
    httpx2.Client(
        transport=WaitingTransport(),
        base_url=os.environ["SCIM_URL"],
        headers={"Authorization": f"Bearer {os.environ['SCIM_TOKEN']}"},
        timeout=60,
    )
)
client.discover()
client.get_resource_model("User").model_fields["user_name"].examples = Addresses()
for result in check_server(client):
    print(
        json.dumps(
            {
                "title": result.title,
                "status": result.status.name,
                "resource_type": result.resource_type,
                "reason": result.reason,
            }
        ),
        flush=True,
    )
