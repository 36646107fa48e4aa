import type { Introspector } from '@tollgate/introspection';
import { Problem, invalidToken } from '@tollgate/problem';
import type { CallerSocket } from './caller-socket.ts';
import { endingOf } from './ending.ts';

/** A dead token's sockets are closed within a second; what nobody can vouch for by then is closed, too. */
const DEADLINE_MS = 850;
const RETRY_MS = 50;
/** Questions to auth at one moment. */
const CONCURRENCY = 64;

/**
 * Asks whether the tokens of these sockets are still good, each token once, and closes those that aren't with
 * 4401. Where auth can't be asked in time they are closed with 1013: they may be dead, and nothing but auth's
 * word says otherwise.
 */
export async function recheckTokens(
  sockets: Iterable<CallerSocket>,
  introspect: Introspector['introspect'],
): Promise<void> {
  const byToken = Map.groupBy(sockets, ({ identity }) => identity?.token ?? '');
  // Those of whom nobody has been asked yet.
  byToken.delete('');
  const deadlineMs = performance.now() + DEADLINE_MS;
  const queue = byToken.entries();
  const work = async () => {
    for (const [token, concerned] of queue) {
      const problem = await faultOf(token, concerned[0]?.requestId, introspect, deadlineMs);
      if (problem === null) continue;
      for (const socket of concerned) socket.end(endingOf(problem));
    }
  };
  await Promise.all(Array.from({ length: Math.min(CONCURRENCY, byToken.size) }, work));
}

async function faultOf(
  token: string,
  requestId: string | undefined,
  introspect: Introspector['introspect'],
  deadlineMs: number,
): Promise<Problem | null> {
  for (;;) {
    const leftMs = deadlineMs - performance.now();
    if (leftMs <= 0) return new Problem('service_unavailable');
    const answer = await within(leftMs, introspect(token, requestId));
    if (answer === 'late') return new Problem('service_unavailable');
    if (answer !== 'failed') return answer === null ? invalidToken() : null;
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  }
}

/** What a promise resolves with; `failed` where it rejects, `late` where it does neither in time. */
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
