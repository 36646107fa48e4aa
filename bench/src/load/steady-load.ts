import { setTimeout as delay } from 'node:timers/promises';
import { CONNECTIONS } from './load.ts';
import type { Target } from './load.ts';
import { openConnection } from './raw-connection.ts';
import type { RawConnection } from './raw-connection.ts';

export type SteadyLoad = {
  /** Each answer's time in ms from the moment its request was due, ascending. */
  answersMs: number[];
  /** How late each request was sent, in ms, ascending: what the generator itself adds, and part of those times. */
  sentLateMs: number[];
  /** Share of one core that the generator used, from 0 to 1. */
  loadCpu: number;
};

/** More than full load has, so that a slow answer delays no other call. */
const STEADY_CONNECTIONS = 4 * CONNECTIONS;

/** The generator opens its connections before, but is itself compiled in its first moments. */
const UNCOUNTED_SEC = 1;

/**
 * Requests at an even pace, whether or not earlier ones are answered, for a second that isn't counted and the given
 * ones. Times count from when a request was due, so that a stall shows in all that were due during it (wrk2 calls
 * the opposite coordinated omission). Connections are plain sockets with the request's bytes made once: Node.js'
 * own client takes as much CPU for a request as the server does, and shares its core with Redis.
 *
 * @throws {Error} when one of them isn't answered with a 2xx.
 */
export async function steadyLoad(
  target: Pick<Target, 'url' | 'headers' | 'body'>,
  perSec: number,
  seconds: number,
): Promise<SteadyLoad> {
  const opened = await Promise.allSettled(
    Array.from({ length: STEADY_CONNECTIONS }, () => openConnection(target)),
  );
  const connections = opened.flatMap((one) => (one.status === 'fulfilled' ? one.value : []));
  try {
    for (const one of opened) if (one.status === 'rejected') throw one.reason;
    return await pace(connections, perSec, seconds);
  } finally {
    for (const connection of connections) connection.destroy();
  }
}

async function pace(free: RawConnection[], perSec: number, seconds: number): Promise<SteadyLoad> {
  const idle = [...free];
  const uncounted = Math.round(perSec * UNCOUNTED_SEC);
  const total = uncounted + Math.round(perSec * seconds);
  const answersMs: number[] = [];
  const sentLateMs: number[] = [];
  const done = Promise.withResolvers<undefined>();
  // Awaited below; until then a failure isn't unhandled.
  done.promise.catch(() => undefined);
  const failure = new AbortController();
  let answered = 0;
  let sent = 0;
  const startedMs = performance.now();
  const cpu = process.cpuUsage();

  async function sendDue(connection: RawConnection): Promise<void> {
    const number = sent;
    const dueMs = startedMs + (number / perSec) * 1_000;
    sent += 1;
    if (number >= uncounted) sentLateMs.push(performance.now() - dueMs);
    await connection.exchange();
    if (number >= uncounted) answersMs.push(performance.now() - dueMs);
    answered += 1;
    idle.push(connection);
    sendAllDue();
    if (answered === total) done.resolve(undefined);
  }

  function sendAllDue(): void {
    const due = Math.min(total, ((performance.now() - startedMs) / 1_000) * perSec);
    while (sent < due) {
      const connection = idle.pop();
      if (connection === undefined) return;
      sendDue(connection).catch((error: unknown) => {
        failure.abort();
        done.reject(error);
      });
    }
  }

  while (sent < total && !failure.signal.aborted) {
    sendAllDue();
    await delay(1);
  }
  await done.promise;
  const { user, system } = process.cpuUsage(cpu);
  const ascending = (values: number[]) => values.sort((a, b) => a - b);
  return {
    answersMs: ascending(answersMs),
    sentLateMs: ascending(sentLateMs),
    loadCpu: (user + system) / 1_000 / (performance.now() - startedMs),
  };
}
