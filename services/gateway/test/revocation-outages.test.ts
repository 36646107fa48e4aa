import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { withClient } from '@tollgate/stack/postgres';
import { waitFor } from '@tollgate/stack/wait-for';
import { startPostgres } from '@tollgate/testbed/postgres';
import type { OwnPostgres } from '@tollgate/testbed/postgres';
import type { ServiceProcess } from '@tollgate/testbed/service-process';
import { startGraphqlUpstream } from './suite/upstreams/graphql-upstream.ts';
import type { GraphqlUpstream } from './suite/upstreams/graphql-upstream.ts';
import { begin, call } from './suite/http-client.ts';
import { openReady } from './suite/raw-socket.ts';
import type { RawSocket } from './suite/raw-socket.ts';
import { startRealServices } from './suite/real-services.ts';
import type { Customer, RealServices } from './suite/real-services.ts';
import { startServer } from './suite/upstreams/server.ts';
import type { TestServer } from './suite/upstreams/server.ts';
import { startLossyRelay } from './suite/lossy-relay.ts';
import type { LossyRelay } from './suite/lossy-relay.ts';

/**
 * "Within a second, even in an outage": each service and store is stopped (SIGSTOP) or killed, for cached tokens, open
 * WebSockets and SSE streams, over two gateways. The second itself is measured by `npm run bench -- revocation`; here,
 * caches would forget a token after 30 s.
 */

const LONG_BEFORE_EXPIRY_MS = 10_000;
const RECOVERY = { timeoutMs: 30_000 };

let postgres: OwnPostgres;
let upstream: TestServer;
let wsUpstream: GraphqlUpstream;
let services: RealServices;
/** Between account and auth. */
let relay: LossyRelay;

beforeAll(async () => {
  [postgres, wsUpstream, upstream] = await Promise.all([
    startPostgres(),
    startGraphqlUpstream(),
    startServer((req, res) => {
      const isStream = req.headers.accept === 'text/event-stream';
      res.writeHead(200, { 'content-type': isStream ? 'text/event-stream' : 'application/json' });
      if (isStream) res.write('event: next\n\n');
      else res.end('{"data":{}}');
    }),
  ]);
  services = await startRealServices({
    databaseUrl: postgres.url,
    authUrlOfAccount: async (authPort) => {
      relay = await startLossyRelay(authPort);
      return `http://127.0.0.1:${String(relay.port)}`;
    },
    gatewayEnv: {
      UPSTREAM_URL: `${upstream.url}/graphql`,
      UPSTREAM_WS_URL: wsUpstream.url,
      // No cache entry expires within this suite.
      INTROSPECTION_CACHE_TTL_MS: '30000',
    },
  });
});

afterAll(async () => {
  await services.stop();
  await Promise.all([relay.close(), upstream.close(), wsUpstream.close(), postgres.stop()]);
});

/** A subscription at one gateway, a stream at the other, and a token in both caches. */
type Open = {
  customer: Customer;
  socket: RawSocket;
  /** When the stream ended for its caller (performance.now()). */
  streamEnded: Promise<number>;
  streamIsOpen: () => boolean;
};

async function openAll(): Promise<Open> {
  const customer = await services.newCustomer({ points_limit: 1_000_000 });
  const [one, other] = services.gateways;
  // A gateway that has just started closes a socket with 1013 where admission isn't ready, for its client to reconnect.
  const socket = await waitFor(() => openSubscription(one, customer.token), RECOVERY);
  const headers = { authorization: `Bearer ${customer.token}`, accept: 'text/event-stream' };
  const stream = await begin(`${other.publicUrl}/graphql`, {
    headers,
    body: '{"query":"subscription { a }"}',
  }).answer;
  expect(stream.statusCode).toBe(200);
  let streamIsOpen = true;
  const streamEnded = new Promise<number>((resolve) => {
    stream.once('close', () => {
      streamIsOpen = false;
      resolve(performance.now());
    });
  });
  stream.on('error', () => undefined).resume();
  for (const gateway of services.gateways) {
    await waitFor(async () => (await query(gateway, customer.token)) === 200);
  }
  return { customer, socket, streamEnded, streamIsOpen: () => streamIsOpen };
}

/** Rejects if the gateway closes the socket without a result. */
async function openSubscription({ publicUrl }: ServiceProcess, token: string): Promise<RawSocket> {
  const socket = await openReady(`${publicUrl.replace('http', 'ws')}/graphql`, token);
  socket.send({ type: 'subscribe', id: 'a', payload: { query: 'subscription { ticks(everyMs: 100) }' } });
  await socket.message({ type: 'next' });
  return socket;
}

async function query({ publicUrl }: ServiceProcess, token: string): Promise<number> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  return (await call(`${publicUrl}/graphql`, { headers, body: '{"query":"{ __typename }"}' })).status;
}

/** The operator's response, and when it came. */
async function revoke({ customer }: Open): Promise<{ delivered: unknown; ackMs: number }> {
  const path = `/private/applications/${String(customer.applicationId)}/revoke`;
  const { delivered } = await services.operate('POST', path);
  return { delivered, ackMs: performance.now() };
}

/** Everything ends long before a cache forgets the token, and no gateway lets a call through. */
async function expectEnded(
  { customer, socket, streamEnded }: Open,
  ackMs: number,
  { closeCode, status }: { closeCode: number; status: number },
): Promise<void> {
  const [closed, streamEndedMs] = await Promise.all([socket.closed, streamEnded]);
  expect(closed.code).toBe(closeCode);
  expect(closed.atMs - ackMs).toBeLessThan(LONG_BEFORE_EXPIRY_MS);
  expect(streamEndedMs - ackMs).toBeLessThan(LONG_BEFORE_EXPIRY_MS);
  for (const gateway of services.gateways) {
    await waitFor(async () => (await query(gateway, customer.token)) === status, RECOVERY);
  }
}

const DEAD = { closeCode: 4401, status: 401 };

async function expectUntouched({ customer, socket, streamIsOpen }: Open): Promise<void> {
  socket.send({ type: 'ping' });
  await socket.message({ type: 'pong' });
  expect(streamIsOpen()).toBe(true);
  for (const gateway of services.gateways) expect(await query(gateway, customer.token)).toBe(200);
}

function closeAll(...opened: Open[]): void {
  for (const { socket } of opened) socket.socket.terminate();
}

async function allReady(): Promise<void> {
  const { auth, account, gateways } = services;
  for (const service of [auth, account, ...gateways]) await services.ready(service);
}

/** The token stays dead after recovery, even if auth itself is asked. */
async function expectDeadForGood({ customer }: Open): Promise<void> {
  await allReady();
  for (const gateway of services.gateways) {
    await waitFor(async () => (await query(gateway, customer.token)) === 401, RECOVERY);
  }
  // A gateway with empty caches asks auth.
  const [gateway] = services.gateways;
  await gateway.kill();
  await gateway.restart();
  await services.ready(gateway);
  await waitFor(async () => (await query(gateway, customer.token)) !== 503, RECOVERY);
  expect(await query(gateway, customer.token)).toBe(401);
}

type Away = Pick<ServiceProcess, 'freeze' | 'thaw' | 'kill' | 'restart'>;
type Outage = { name: string; takeAway: (part: Away) => Promise<() => Promise<void>> };

const OUTAGES: readonly Outage[] = [
  {
    name: 'stopped',
    takeAway: (part) => {
      part.freeze();
      return Promise.resolve(() => {
        part.thaw();
        return Promise.resolve();
      });
    },
  },
  {
    name: 'killed',
    takeAway: async (part) => {
      await part.kill();
      return () => part.restart();
    },
  },
];

describe.each(OUTAGES)('$name', ({ takeAway }) => {
  test('auth: account publishes the revocation, and nobody else is touched', async () => {
    const [revoked, other] = [await openAll(), await openAll()];
    const bringBack = await takeAway(services.auth);
    try {
      const { delivered, ackMs } = await revoke(revoked);
      expect(delivered).toBe(true);
      await expectEnded(revoked, ackMs, DEAD);
      await expectUntouched(other);
      // A new name ends nothing, and needs no delivery to auth.
      const path = `/private/applications/${String(other.customer.applicationId)}`;
      expect(await services.operate('PATCH', path, { name: 'Renamed' })).toMatchObject({ delivered: false });
      await expectUntouched(other);
    } finally {
      await bringBack();
    }
    await expectDeadForGood(revoked);
    closeAll(other);
  });

  test('account, once it has acknowledged: what it has published ends all', async () => {
    const revoked = await openAll();
    const { delivered, ackMs } = await revoke(revoked);
    const bringBack = await takeAway(services.account);
    try {
      expect(delivered).toBe(true);
      await expectEnded(revoked, ackMs, DEAD);
    } finally {
      await bringBack();
    }
    await expectDeadForGood(revoked);
  });

  test('Redis: nothing can be heard, so nothing that is open goes on, and calls are 503', async () => {
    const revoked = await openAll();
    const bringBack = await takeAway(services.redis);
    try {
      const { delivered, ackMs } = await revoke(revoked);
      expect(delivered).toBe(false);
      await expectEnded(revoked, ackMs, { closeCode: 1013, status: 503 });
    } finally {
      await bringBack();
    }
    await expectDeadForGood(revoked);
  });

  test('Postgres: what was committed before is in force, and nothing can be revoked meanwhile', async () => {
    const [revoked, other] = [await openAll(), await openAll()];
    const { delivered, ackMs } = await revoke(revoked);
    const bringBack = await takeAway(postgres);
    try {
      expect(delivered).toBe(true);
      await expectEnded(revoked, ackMs, DEAD);
      await expect(revoke(other)).rejects.toThrow('503');
    } finally {
      await bringBack();
    }
    await expectDeadForGood(revoked);
    closeAll(other);
  });
});

test('account killed after its commit and before it published: the next one publishes', async () => {
  const revoked = await openAll();
  await services.auth.kill();
  await services.account.kill();
  await withClient(postgres.url, async (client) => {
    await client.query(
      `WITH changed AS (
         UPDATE applications SET status = 'revoked', revocation_epoch = revocation_epoch + 1
         WHERE application_id = $1 RETURNING client_id, application_id, revocation_epoch
       )
       INSERT INTO client_change_outbox
         (client_id, application_id, revocation_epoch, change, next_attempt_at, publish_after)
       SELECT client_id, application_id, revocation_epoch, 'application', now(), now() FROM changed`,
      [revoked.customer.applicationId],
    );
  });
  await services.account.restart();
  await expectEnded(revoked, Infinity, DEAD);
  await services.auth.restart();
  await expectDeadForGood(revoked);
});

test('account that can’t reach auth while gateways can: auth itself hears of it from Redis', async () => {
  const revoked = await openAll();
  await relay.close();
  const { delivered, ackMs } = await revoke(revoked);
  expect(delivered).toBe(true);
  await expectEnded(revoked, ackMs, DEAD);
  await expectDeadForGood(revoked);
});
