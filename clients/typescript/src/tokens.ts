import { TollgateError } from './errors.ts';
import { abortable } from './waiting.ts';

/** Without `expiresInSec` the token is used until it is refused. */
export type FreshToken = { accessToken: string; expiresInSec?: number | undefined };

export type Tokens = ReturnType<typeof createTokens>;

type Held = { token: string; renewAtMs: number; endsAtMs: number };

const RENEWAL_MARGIN_MS = 60_000;
const REFUSED_CLIENT_PAUSE_MS = 60_000;
const MAX_BACKOFF_MS = 30_000;

/**
 * One token for any number of callers, by the monotonic clock, from before its request. It is renewed at 90 % of its
 * life or a minute before its end, whichever is later, a little earlier by chance. While it lives, no caller waits for
 * the renewal, and a failed one is tried again later. `invalid_client` is final for a minute.
 */
export function createTokens(obtain: () => Promise<FreshToken>, nowMs = () => performance.now()) {
  let held: Held | undefined;
  let pending: Promise<Held> | undefined;
  let refusal: TollgateError | undefined;
  let failures = 0;
  let nextTryMs = -Infinity;

  async function obtainHeld(): Promise<Held> {
    const startedMs = nowMs();
    try {
      const { accessToken, expiresInSec } = await obtain();
      [failures, refusal, nextTryMs] = [0, undefined, -Infinity];
      held = { token: accessToken, ...timesOf(startedMs, expiresInSec) };
      return held;
    } catch (error) {
      failures += 1;
      const backoffMs = Math.min(1_000 * 2 ** failures, MAX_BACKOFF_MS) * (0.5 + Math.random() / 2);
      refusal = error instanceof TollgateError && error.code === 'invalid_client' ? error : undefined;
      nextTryMs = nowMs() + (refusal === undefined ? backoffMs : REFUSED_CLIENT_PAUSE_MS);
      throw error;
    }
  }

  function renew(): Promise<Held> {
    pending ??= obtainHeld().finally(() => (pending = undefined));
    return pending;
  }

  return {
    /** Waits only while there is no live token. Aborting stops this caller's waiting, not the shared request. */
    get: async (signal?: AbortSignal): Promise<string> => {
      const now = nowMs();
      if (held !== undefined && now < held.endsAtMs) {
        if (now >= held.renewAtMs && now >= nextTryMs) renew().catch(() => undefined);
        return held.token;
      }
      if (refusal !== undefined && now < nextTryMs) throw refusal;
      return (await abortable(renew(), signal)).token;
    },
    /** After a 401 for it. It is forgotten, unless a newer one has taken its place. */
    refuse: (token: string): void => {
      if (held?.token === token) held = undefined;
    },
  };
}

function timesOf(startedMs: number, lifeSec = Infinity): Omit<Held, 'token'> {
  const lifeMs = lifeSec * 1_000;
  const untilRenewalMs = Math.max(lifeMs * 0.9, lifeMs - RENEWAL_MARGIN_MS);
  const spreadMs = lifeMs === Infinity ? 0 : (Math.random() * (lifeMs - untilRenewalMs)) / 2;
  return { renewAtMs: startedMs + untilRenewalMs - spreadMs, endsAtMs: startedMs + lifeMs };
}
