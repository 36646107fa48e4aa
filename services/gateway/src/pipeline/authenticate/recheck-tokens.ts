import type { Introspector } from '@tollgate/introspection';
import { Problem, invalidToken } from '@tollgate/http/problem';
import type { WatchedUse } from './token-use.ts';

const RETRY_MS = 50;
const CONCURRENCY = 64;

/** Introspects each token once and ends the uses of dead ones; with 503 if auth doesn't respond in time. */
export async function recheckTokens(
  uses: Iterable<WatchedUse>,
  introspect: Introspector['introspect'],
  deadlineOf: (use: WatchedUse) => number,
): Promise<void> {
  const byToken = Map.groupBy(uses, ({ token }) => token);
  const queue = [...byToken].map(([token, concerned]) => ({
    token,
    concerned,
    deadlineMs: Math.min(...concerned.map(deadlineOf)),
  }));
  const left = queue.values();
  const work = async () => {
    for (const { token, concerned, deadlineMs } of left) {
      const verdict = await verdictOn(token, concerned[0]?.requestId, introspect, deadlineMs);
      for (const use of concerned) {
        if (verdict instanceof Problem) use.end(verdict);
        else use.goodAtMs = Math.max(use.goodAtMs, verdict.goodAtMs);
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(CONCURRENCY, queue.length) }, work));
}

async function verdictOn(
  token: string,
  requestId: string | undefined,
  introspect: Introspector['introspect'],
  deadlineMs: number,
): Promise<Problem | { goodAtMs: number }> {
  for (;;) {
    const goodAtMs = performance.now();
    if (goodAtMs >= deadlineMs) return new Problem('service_unavailable');
    const answer = await within(deadlineMs - goodAtMs, introspect(token, requestId));
    if (answer === 'late') return new Problem('service_unavailable');
    if (answer !== 'failed') return answer === null ? invalidToken() : { goodAtMs };
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  }
}

async function within<T>(timeMs: number, promise: Promise<T>): Promise<T | 'failed' | 'late'> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<'late'>((resolve) => {
    timer = setTimeout(resolve, timeMs, 'late');
  });
  try {
    return await Promise.race([promise, late]);
  } catch {
    return 'failed';
  } finally {
    clearTimeout(timer);
  }
}
