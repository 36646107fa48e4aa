import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { WebSocket } from 'ws';
import { freshApplication, revokeApplication } from './operator.ts';
import type { PartResult } from './part.ts';
import { spreadOf } from './report/ratios.ts';
import type { Servers, StartedService } from './servers.ts';
import { openSocket } from './websocket/callers.ts';
import { widenLimits } from './usage/wide-limits.ts';

const REVOCATIONS = 30;
const POLL_INTERVAL_MS = 2;
const GOAL_MEDIAN_MS = 100;
const GOAL_SLOWEST_MS = 1_000;
const LIMIT_MS = 10_000;

/** In ms since an operator requested the revocation. */
type Times = { firstRefusal: number[]; socketClosed: number[] };

/**
 * From the request of a revocation to the first refusal at two gateways, and to the closing of open
 * WebSockets.
 */
export async function measureRevocation(servers: Servers, say: (line: string) => void): Promise<PartResult> {
  await widenLimits(servers);
  const place = servers.places?.rest;
  const gateways = [
    await servers.startFurther('gateway', { settings: { LOG_LEVEL: 'warn' }, place }),
    await servers.startFurther('gateway', { settings: { LOG_LEVEL: 'warn' }, place }),
  ];
  const times: Times = { firstRefusal: [], socketClosed: [] };
  for (let round = 0; round < REVOCATIONS; round += 1) await revokeOnce(servers, gateways, times);
  for (const gateway of gateways) await gateway.stop();
  const refusal = spreadOf(times.firstRefusal);
  const closed = spreadOf(times.socketClosed);
  say(`revocation: refused after ${refusal.median.toFixed(0)} ms, at most ${refusal.max.toFixed(0)} ms`);
  const goals = Object.entries({ 'first refusal': refusal, 'closed WebSocket': closed }).flatMap(
    ([what, { median, max }]) => [
      {
        what: `ms from the revoke to the ${what}, median`,
        figure: median.toFixed(1),
        target: `≤ ${String(GOAL_MEDIAN_MS)}`,
        reached: median <= GOAL_MEDIAN_MS,
      },
      {
        what: `ms from the revoke to the ${what}, slowest`,
        figure: max.toFixed(1),
        target: `≤ ${String(GOAL_SLOWEST_MS)}`,
        reached: max <= GOAL_SLOWEST_MS,
      },
    ],
  );
  return {
    goals,
    notes: [
      `${String(REVOCATIONS)} applications, each revoked by the operator's API while two gateways had its token cached and a WebSocket of it open; each gateway was called every ${String(POLL_INTERVAL_MS)} ms`,
      'the time counts from the request for the revocation: commit in Postgres, outbox, auth, Redis and the gateway are in it',
      'peers, by the cache lifetime that the part gateway gives them: nginx auth_request 30 s (and then only by a 4xx: it reads no `active`), mod_oauth2 30 s, mod_auth_openidc 30 s (without that setting until the token expires), express-gateway 30 s; stated, not measured; none of them closes a connection',
    ],
    figures: times,
  };
}

async function revokeOnce(
  servers: Servers,
  gateways: readonly StartedService[],
  times: Times,
): Promise<void> {
  const { id, token } = await freshApplication(servers);
  const sockets: WebSocket[] = [];
  for (const { url } of gateways) {
    if ((await statusOf(url, token)) !== 200) throw new Error('a token that is not revoked is refused');
    sockets.push(await openSocket(`${url}/graphql`, token));
  }
  const startedMs = performance.now();
  const closed = sockets.map(async (socket) => {
    await once(socket, 'close', { signal: AbortSignal.timeout(LIMIT_MS) });
    times.socketClosed.push(performance.now() - startedMs);
  });
  const refused = gateways.map(async ({ url }) => {
    while ((await statusOf(url, token)) === 200) {
      if (performance.now() - startedMs > LIMIT_MS) throw new Error('a revoked token is still good');
      await delay(POLL_INTERVAL_MS);
    }
    times.firstRefusal.push(performance.now() - startedMs);
  });
  await Promise.all([revokeApplication(servers, id), ...closed, ...refused]);
}

async function statusOf(url: string, token: string): Promise<number> {
  const answer = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: '{"query":"{ __typename }"}',
  });
  await answer.arrayBuffer();
  return answer.status;
}
