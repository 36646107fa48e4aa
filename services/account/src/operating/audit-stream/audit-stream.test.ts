import { once } from 'node:events';
import { createServer } from 'node:tls';
import { buffer } from 'node:stream/consumers';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import type { Knex } from 'knex';
import { waitFor } from '@tollgate/stack/wait-for';
import { createCertificateAuthority } from '@tollgate/testbed/certificates';
import { startOperatedAccount } from '../../../test/suite/operated-account.ts';
import type { OperatedAccount } from '../../../test/suite/operated-account.ts';
import { operatePath } from '../../../test/suite/operator.ts';
import { startReceiver } from '../../../test/suite/stand-ins/webhook-receiver.ts';
import type { Receiver } from '../../../test/suite/stand-ins/webhook-receiver.ts';
import { auditStreamUrl } from './settings.ts';

const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;

let receiver: Receiver;
let suite: OperatedAccount;
const well: Receiver['answer'] = (_req, res) => {
  res.writeHead(204).end();
};

beforeAll(async () => {
  receiver = await startReceiver();
  suite = await startOperatedAccount({
    settings: { AUDIT_STREAM_URL: receiver.url, AUDIT_STREAM_SECRET: SECRET, LOG_LEVEL: 'debug' },
  });
  await waitFor(async () => (await suite.database('audit_stream')).length === 1);
});

afterAll(async () => {
  await suite.close();
  await receiver.close();
});

beforeEach(() => {
  receiver.received.length = 0;
});

afterEach(async () => {
  receiver.answer = well;
  await waitFor(async () => (await suite.database('audit_stream_outbox')).length === 0);
});

type Entry = { audit_id: number; action: string; details: Record<string, unknown> };

/** What the messages held, in the order in which they came. */
const entriesOf = (messages: { body: string }[]) =>
  messages.flatMap(({ body }) => (JSON.parse(body) as { entries: Entry[] }).entries);

const record = (database: Knex, number: number, count = 1) =>
  database('audit_log')
    .insert(
      Array.from({ length: count }, (_, index) => ({
        actor: 'seed',
        action: 'account_created',
        address: '192.0.2.1',
        request_id: 'suite',
        details: { number: number + index },
      })),
    )
    .returning<{ audit_id: number }[]>('audit_id');

const numbersOf = (messages: { body: string }[]) =>
  entriesOf(messages).map(({ details }) => details['number']);

/** Each once, as the first to come. */
const firsts = <Value>(values: readonly Value[]) => [...new Set(values)];

test('each change arrives, whole and signed as customers’ webhooks are', async () => {
  const body = { name: 'Streamed', email: 'streamed@example.com' };
  const { headers } = await operatePath(suite.account, 'POST', '/private/accounts', body);
  const message = await waitFor(() => receiver.received[0]);
  expect(message.verify(SECRET)).toMatchObject({
    type: 'audit_log.entries',
    entries: [
      {
        actor: 'operator:suite-operator',
        action: 'account_created',
        request_id: headers.get('x-request-id'),
        address: '127.0.0.1',
        details: { operator_reason: 'suite' },
      },
    ],
  });
  const [entry] = entriesOf([message]);
  const { body: listed } = await operatePath(suite.account, 'GET', '/private/audit-log?limit=1');
  expect((listed['entries'] as unknown[])[0]).toEqual(entry);
  expect(suite.account.logs()).not.toContain(SECRET.slice(6));
});

test('in order and none twice, from two processes, in messages of at most 100 entries', async () => {
  const replica = await suite.startReplica();
  try {
    for (let at = 0; at < 300; at += 50) await record(suite.database, at, 50);
    await waitFor(() => numbersOf(receiver.received).length >= 300);
    expect(numbersOf(receiver.received)).toEqual(Array.from({ length: 300 }, (_, index) => index));
    const sizes = receiver.received.map((message) => entriesOf([message]).length);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(100);
  } finally {
    await replica.stop();
  }
});

test('what is not taken is sent again, before anything else', async () => {
  let refused = 0;
  receiver.answer = (req, res) => {
    refused += 1;
    if (refused > 2) well(req, res);
    else res.writeHead(500).end();
  };
  await record(suite.database, 1);
  await waitFor(() => refused >= 1);
  await record(suite.database, 2);
  await waitFor(() => refused >= 3 && numbersOf(receiver.received).includes(2));
  expect(numbersOf(receiver.received).slice(0, 2)).toEqual([1, 1]);
  expect(firsts(numbersOf(receiver.received))).toEqual([1, 2]);
  expect(suite.account.logs()).toContain('audit entries not sent; will retry');
  const metrics = await (await fetch(`${suite.account.privateUrl}/metrics`)).text();
  expect(metrics).toMatch(/^tollgate_audit_stream_deliveries_total\{.*outcome="failed".*\} [1-9]/m);
  expect(metrics).toMatch(/^tollgate_audit_stream_oldest_age_seconds\{/m);
});

test('kill -9 while the sink is answering loses nothing and leaves nothing out', async () => {
  receiver.answer = () => undefined;
  await record(suite.database, 1, 3);
  await waitFor(() => receiver.received.length === 1);
  await suite.account.kill();
  await record(suite.database, 4);
  receiver.answer = well;
  await suite.account.restart();
  await waitFor(() => numbersOf(receiver.received).includes(4));
  expect(numbersOf(receiver.received)).toEqual([1, 2, 3, 1, 2, 3, 4]);
});

test('an entry that is committed later than one with a higher id is not left out', async () => {
  const early = await suite.database.transaction();
  try {
    const [first] = await record(early, 1);
    const [second] = await record(suite.database, 2);
    expect(Number(first?.audit_id)).toBeLessThan(Number(second?.audit_id));
    // The loop has looked, and still nothing is sent.
    await waitFor(async () => {
      const metrics = await (await fetch(`${suite.account.privateUrl}/metrics`)).text();
      return /^tollgate_audit_stream_pending\{.*\} 1$/m.test(metrics);
    });
    expect(receiver.received).toEqual([]);
    await early.commit();
  } finally {
    if (!early.isCompleted()) await early.rollback();
  }
  await waitFor(() => numbersOf(receiver.received).length === 2);
  expect(numbersOf(receiver.received)).toEqual([1, 2]);
});

test('without a sink nothing is kept, also once no process has it any more', async () => {
  const other = await startOperatedAccount({ settings: { HOUSEKEEPING_INTERVAL_SEC: '1' } });
  try {
    await record(other.database, 1);
    expect(await other.database('audit_stream_outbox')).toEqual([]);
    await other.database('audit_stream').insert({ seen_at: new Date() });
    await record(other.database, 2);
    expect(await other.database('audit_stream_outbox')).toHaveLength(1);
    await other.database('audit_stream').update({ seen_at: new Date(Date.now() - 90_000_000) });
    await waitFor(async () => (await other.database('audit_stream_outbox')).length === 0);
    expect(await other.database('audit_stream')).toEqual([]);
  } finally {
    await other.close();
  }
});

test('by syslog over TLS, in frames of RFC 5425; not to a server whose certificate is another’s', async () => {
  const authority = createCertificateAuthority();
  const received: Buffer[] = [];
  const server = createServer(authority.issue(1, 'DNS:localhost'), (socket) => {
    void buffer(socket).then((bytes) => received.push(bytes));
  });
  server.listen(0, 'localhost');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const url = `syslog+tls://localhost:${String(port)}`;
  const trusting = await startOperatedAccount({
    settings: { AUDIT_STREAM_URL: url, NODE_EXTRA_CA_CERTS: authority.file },
  });
  const other = await startOperatedAccount({ settings: { AUDIT_STREAM_URL: url } });
  try {
    for (const { database } of [other, trusting]) {
      await waitFor(async () => (await database('audit_stream')).length === 1);
      await record(database, 1, 2);
    }
    await waitFor(() => received.length > 0);
    await waitFor(async () => (await trusting.database('audit_stream_outbox')).length === 0);
    let rest = Buffer.concat(received);
    const messages: string[] = [];
    while (rest.length > 0) {
      const space = rest.indexOf(' ');
      const end = space + 1 + Number(rest.subarray(0, space).toString());
      messages.push(rest.subarray(space + 1, end).toString());
      rest = rest.subarray(end);
    }
    expect(messages).toHaveLength(2);
    const [, header, json] = /^(.*?) \ufeff(.*)$/s.exec(messages[0] ?? '') ?? [];
    expect(header).toMatch(/^<110>1 \d{4}-\d\d-\d\dT[\d:.]+Z \S+ tollgate \d+ account_created -$/);
    expect(JSON.parse(json ?? '')).toMatchObject({ action: 'account_created', details: { number: 1 } });
    await waitFor(() => other.account.logs().includes('audit entries not sent; will retry'));
    expect(await other.database('audit_stream_outbox')).toHaveLength(2);
  } finally {
    await Promise.all([trusting.close(), other.close()]);
    server.close();
    authority.remove();
  }
});

test.each([
  ['https://siem.example.com/in?token=1', true],
  ['http://collector:8080/', true],
  ['syslog+tls://siem.example.com:6514', true],
  ['syslog+tls://siem.example.com/x', false],
  ['syslog://siem.example.com', false],
  ['https://user:password@siem.example.com', false],
  ['siem', false],
])('the setting %s: %s', (value, is) => {
  expect(auditStreamUrl.safeParse(value).success).toBe(is);
});
