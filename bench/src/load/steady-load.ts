import { setTimeout as delay } from 'node:timers/promises';
import { CONNECTIONS } from './load.ts';
import type { Target } from './load.ts';
import { openConnection } from './raw-connection.ts';
import type { RawConnection } from './raw-connection.ts';

export type SteadyLoad = {
  /** In ms since each request was due, ascending. */
  answersMs: number[];
  /**
   * The generator's own part of these times, in ms, ascending: how long requests weren't sent although due and a
   * connection was free. A server that stalls keeps all connections busy, which isn't the generator's part.
   */
  sentLateMs: number[];
  /** Share of one core, from 0 to 1. */
  loadCpu: number;
};

/** More than full load has, so that a slow response delays no other call. */
const STEADY_CONNECTIONS = 4 * CONNECTIONS;

/** The generator's code is compiled in its first moments. */
const UNCOUNTED_SEC = 1;

/**
 * Times count from when a request was due, which avoids coordinated omission (wrk2). Plain sockets, because
 * Node.js' client uses as much CPU as the server.
 * @throws {Error} unless every response is a 2xx
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

type IdleConnection = { connection: RawConnection; sinceMs: number };

async function pace(free: RawConnection[], perSec: number, seconds: number): Promise<SteadyLoad> {
  const uncounted = Math.round(perSec * UNCOUNTED_SEC);
  const total = uncounted + Math.round(perSec * seconds);
  const answersMs: number[] = [];
  const sentLateMs: number[] = [];
  const done = Promise.withResolvers<undefined>();
  // Awaited below; until then, a failure must not be unhandled.
  done.promise.catch(() => undefined);
  const failure = new AbortController();
  let answered = 0;
  let sent = 0;
  const startedMs = performance.now();
  const idle = free.map((connection): IdleConnection => ({ connection, sinceMs: startedMs }));
  const cpu = process.cpuUsage();

  async function sendDue({ connection, sinceMs }: IdleConnection): Promise<void> {
    const number = sent;
    const dueMs = startedMs + (number / perSec) * 1_000;
    sent += 1;
    if (number >= uncounted) sentLateMs.push(performance.now() - Math.max(dueMs, sinceMs));
    await connection.exchange();
    const answeredMs = performance.now();
    if (number >= uncounted) answersMs.push(answeredMs - dueMs);
    answered += 1;
    idle.push({ connection, sinceMs: answeredMs });
    sendAllDue();
    if (answered === total) done.resolve(undefined);
  }

  function sendAllDue(): void {
    const due = Math.min(total, ((performance.now() - startedMs) / 1_000) * perSec);
    while (sent < due) {
      const one = idle.pop();
      if (one === undefined) return;
      sendDue(one).catch((error: unknown) => {
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
