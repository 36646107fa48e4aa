import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { waitFor } from '@tollgate/stack/wait-for';
import { call } from '../../test/suite/http-client.ts';
import { startRealServices } from '../../test/suite/real-services.ts';
import type { Customer, RealServices } from '../../test/suite/real-services.ts';
import { startServer } from '../../test/suite/upstreams/server.ts';
import type { TestServer } from '../../test/suite/upstreams/server.ts';

/** Two gateways with the real account, where operators register documents. */
let services: RealServices;
let upstream: TestServer;

beforeAll(async () => {
  upstream = await startServer((req, res) => {
    req.resume();
    res.writeHead(200, { 'content-type': 'application/json', 'x-points': '1' }).end('{"data":{}}');
  });
  services = await startRealServices({ gatewayEnv: { UPSTREAM_URL: `${upstream.url}/graphql` } });
});

afterAll(async () => {
  await services.stop();
  await upstream.close();
});

async function statuses({ token }: Customer, body: object): Promise<number[]> {
  const answers = services.gateways.map(({ publicUrl }) =>
    call(`${publicUrl}/graphql`, {
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    }),
  );
  return (await Promise.all(answers)).map(({ status }) => status);
}

test('what operators register and limit holds on all gateways, and ends there', async () => {
  const customer = await services.newCustomer({});
  const path = `/private/applications/${String(customer.applicationId)}/trusted-documents`;
  const read = { query: 'query Read { a }' };
  const until = (body: object, status: number) =>
    waitFor(async () => (await statuses(customer, body)).every((each) => each === status), {
      intervalMs: 20,
    });
  expect(await statuses(customer, read)).toEqual([200, 200]);

  await services.operate('PUT', path, { enforced: true });
  await until(read, 400);
  await services.operate('POST', path, { documents: [{ document_id: 'read', text: read.query }] });
  await until(read, 200);
  await until({ documentId: 'read' }, 200);
  expect(await statuses(customer, { query: 'query Read { b }' })).toEqual([400, 400]);

  await services.operate('PUT', path, { enforced: false });
  await until({ query: 'query Read { b }' }, 200);
});
