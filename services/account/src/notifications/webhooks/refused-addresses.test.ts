import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo, Server } from 'node:net';
import { waitFor } from '@tollgate/stack/wait-for';
import { newOwner } from '../../../test/suite/console.ts';
import type { Owner } from '../../../test/suite/console.ts';
import { startDnsServer } from '@tollgate/testbed/dns-server';
import type { DnsServer } from '@tollgate/testbed/dns-server';
import { startPeople } from '../../../test/suite/people.ts';
import type { PeopleUnderTest } from '../../../test/suite/people.ts';
import { makeWebhook, newestDelivery, sendTest } from '../../../test/suite/notifications/webhooks.ts';
import type { MadeWebhook } from '../../../test/suite/notifications/webhooks.ts';

let suite: PeopleUnderTest;
let dns: DnsServer;
let inside: Server;
let port: number;
let connections = 0;
let owner: Owner;

beforeAll(async () => {
  inside = createServer((socket) => {
    connections += 1;
    socket.destroy();
  });
  inside.listen(0);
  await once(inside, 'listening');
  ({ port } = inside.address() as AddressInfo);
  dns = await startDnsServer();
  suite = await startPeople({
    WEBHOOK_ALLOW_HTTP: 'true',
    WEBHOOK_DNS_SERVERS: dns.address,
    WEBHOOK_RETRY_DELAYS_SEC: '0',
    WEBHOOK_CONNECT_TIMEOUT_MS: '2000',
    MAX_WEBHOOKS_PER_ACCOUNT: '100',
  });
});

beforeEach(async () => {
  owner = await newOwner(suite);
});

afterAll(async () => {
  await suite.close();
  await dns.close();
  inside.close();
});

async function outcomeOf(url: string) {
  const webhook = await makeWebhook(owner, url);
  await sendTest(owner, webhook);
  return finalOutcome(webhook);
}

async function finalOutcome(webhook: MadeWebhook) {
  const { response_status, duration_ms, error, attempts } = await newestDelivery(
    owner,
    webhook,
    ({ status }) => status === 'failed',
  );
  return { response_status, duration_ms, error, attempts };
}

const REFUSED = { response_status: null, duration_ms: null, error: 'no_public_address', attempts: 2 };

const INSIDE = [
  'http://127.0.0.1',
  'http://2130706433',
  'http://0x7f.1',
  'http://0177.0.0.1',
  'http://127.1',
  'http://0.0.0.0',
  'http://10.0.0.1',
  'http://172.16.0.1',
  'http://192.168.1.1',
  'http://100.64.0.1',
  'http://169.254.169.254',
  'http://[::1]',
  'http://[::]',
  'http://[::ffff:127.0.0.1]',
  'http://[::ffff:7f00:1]',
  'http://[::127.0.0.1]',
  'http://[64:ff9b::7f00:1]',
  'http://[2002:7f00:1::]',
  'http://[2001:0:7f00:1::]',
  'http://[fc00::1]',
  'http://[fe80::1]',
  'http://[ff02::1]',
  'http://255.255.255.255',
  'http://224.0.0.1',
  'http://①②⑦.0.0.1',
];

test('an address that is not public is refused when it is given, however it is written', async () => {
  for (const start of INSIDE) {
    const url = `${start}:${String(port)}/latest/meta-data`;
    const { status, body } = await owner.browser.request('POST', '/webhooks', { url });
    expect([start, status, body['errors']]).toEqual([
      start,
      400,
      [{ field: 'url', message: expect.stringMatching(/ This one has a private IP address$/) }],
    ]);
  }
});

test('one that has come into the table otherwise is not connected to', async () => {
  const webhooks: MadeWebhook[] = [];
  const owners: Owner[] = [];
  for (const start of INSIDE) {
    // Tests of one account are limited.
    owner = await newOwner(suite);
    owners.push(owner);
    const webhook = await makeWebhook(owner, 'https://hooks.example');
    const { href: url } = new URL(`${start}:${String(port)}/latest/meta-data`);
    await suite.database('webhooks').where({ webhook_id: webhook.webhook_id }).update({ url });
    webhooks.push(webhook);
    await sendTest(owner, webhook);
  }
  for (const [index, webhook] of webhooks.entries()) {
    owner = owners[index] ?? owner;
    expect([INSIDE[index], await finalOutcome(webhook)]).toEqual([INSIDE[index], REFUSED]);
  }
  expect(connections).toBe(0);
});

test('a name that leads inside, one that does not exist and localhost look the same', async () => {
  dns.names.set('inside.example', ['127.0.0.1']);
  dns.names.set('metadata.example', ['169.254.169.254', '10.0.0.1']);
  dns.names.set('empty.example', []);
  const hosts = ['inside.example', 'metadata.example', 'empty.example', 'missing.example'];
  for (const host of hosts) expect(await outcomeOf(`http://${host}:${String(port)}/`)).toEqual(REFUSED);
  const webhook = await makeWebhook(owner, 'https://hooks.example');
  // Which is refused when it is given.
  const url = `http://localhost:${String(port)}/`;
  await suite.database('webhooks').where({ webhook_id: webhook.webhook_id }).update({ url });
  await sendTest(owner, webhook);
  expect(await finalOutcome(webhook)).toEqual(REFUSED);
  expect(connections).toBe(0);
});

test('a name is asked for once at every attempt: what was looked at is what would be connected to', async () => {
  const host = 'rebinding.example';
  dns.names.set(host, ['127.0.0.1']);
  const webhook = await makeWebhook(owner, `http://${host}:${String(port)}/`);
  await sendTest(owner, webhook);
  await newestDelivery(owner, webhook, ({ status }) => status === 'failed');
  expect(dns.asked.filter((name) => name === host)).toHaveLength(2);
  expect(connections).toBe(0);
});

test('of several addresses none is connected to that is not public', async () => {
  const host = 'mixed.example';
  dns.names.set(host, ['127.0.0.1', '192.88.99.1']);
  expect(await outcomeOf(`http://${host}:${String(port)}/`)).toEqual(REFUSED);
  expect(connections).toBe(0);
});

test('with the setting that allows it the same name is connected to', async () => {
  dns.names.set('inside.example', ['127.0.0.1']);
  await suite.account.stop();
  await suite.account.restart({ WEBHOOK_ALLOW_PRIVATE_ADDRESSES: 'true' });
  expect(await outcomeOf(`http://inside.example:${String(port)}/`)).toMatchObject({
    error: 'connection_failed',
  });
  await waitFor(() => connections > 0);
  expect(await outcomeOf(`http://[::ffff:127.0.0.1]:${String(port)}/`)).toMatchObject({
    error: 'connection_failed',
  });
});
