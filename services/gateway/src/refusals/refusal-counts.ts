import { setTimeout } from 'node:timers/promises';
import type { RefusalCount, RefusalCountBatch } from '@tollgate/contracts/refused-call';
import type { Logger } from '@tollgate/log';

type CountedRefusal = Omit<RefusalCount, 'hour_ms' | 'last_at_ms' | 'calls'>;

/** `full` if account has not read what is there: the batch stays here. */
export type SendCounts = (batch: RefusalCountBatch) => Promise<'sent' | 'full' | 'failed'>;

export type RefusalCounts = {
  /** False if too many different ones wait to be counted. */
  count: (refusal: CountedRefusal, nowMs: number) => boolean;
  /** Sends what is left, once. */
  close: () => Promise<void>;
};

/** A second's refusals of one code and application are one number, however many they are. */
const SEND_AFTER_MS = 1_000;
/** Some 20 KB in Redis. */
const MAX_BATCH = 100;
/** For calls with a valid token, and again for all others, whose tokens may be made up. */
const MAX_WAITING = { identified: 10_000, unidentified: 500 };

const HOUR_MS = 3_600_000;

/**
 * Counts refused and failed calls exactly, by account, payer, application, code and hour (docs/design/settlement.md).
 * No call waits for it. A batch that Redis may have taken is sent again under its number, and account counts a number
 * once.
 */
export function createRefusalCounts(options: {
  gatewayId: string;
  send: SendCounts;
  logger: Pick<Logger, 'warn'>;
}): RefusalCounts {
  const { gatewayId, send, logger } = options;
  const closing = new AbortController();
  const { signal } = closing;
  const waiting = {
    identified: new Map<string, RefusalCount>(),
    unidentified: new Map<string, RefusalCount>(),
  };
  let isSending = false;
  let sending = Promise.resolve();
  let seq = 0;
  let unsent: RefusalCountBatch | undefined;

  function nextBatch(): RefusalCountBatch | undefined {
    const counts = [...take(waiting.identified, MAX_BATCH), ...take(waiting.unidentified, MAX_BATCH)];
    if (counts.length === 0) return undefined;
    seq += 1;
    return { gateway_id: gatewayId, seq, counts };
  }

  /** Retries until nothing is left; during a shutdown, until the first failure. */
  async function sendAll(): Promise<void> {
    for (;;) {
      await setTimeout(SEND_AFTER_MS, undefined, { ref: false, signal }).catch(() => undefined);
      let outcome: Awaited<ReturnType<SendCounts>> = 'sent';
      while (outcome === 'sent' && (unsent ??= nextBatch()) !== undefined) {
        outcome = await send(unsent);
        if (outcome === 'sent') unsent = undefined;
      }
      if (outcome === 'sent' || signal.aborted) break;
    }
    isSending = false;
  }

  return {
    count: (refusal, nowMs) => {
      const kind = refusal.account_id === null ? 'unidentified' : 'identified';
      if (!add(waiting[kind], refusal, nowMs, MAX_WAITING[kind])) return false;
      if (!isSending) {
        isSending = true;
        sending = sendAll();
      }
      return true;
    },
    close: async () => {
      closing.abort();
      await sending;
      const lost = [
        ...waiting.identified.values(),
        ...waiting.unidentified.values(),
        ...(unsent?.counts ?? []),
      ];
      if (lost.length > 0) {
        const calls = lost.reduce((sum, one) => sum + one.calls, 0);
        logger.warn({ count: calls }, 'numbers of refused calls were lost');
      }
    },
  };
}

function add(
  counts: Map<string, RefusalCount>,
  refusal: CountedRefusal,
  nowMs: number,
  max: number,
): boolean {
  const { code, account_id, payer_id, application_id, client_id } = refusal;
  const hourMs = nowMs - (nowMs % HOUR_MS);
  const key = `${String(hourMs)} ${code} ${String(account_id)} ${String(payer_id)} ${String(application_id)} ${String(client_id)}`;
  const known = counts.get(key);
  if (known !== undefined) {
    known.calls += 1;
    known.last_at_ms = nowMs;
    return true;
  }
  if (counts.size >= max) return false;
  const ids = { account_id, payer_id, application_id, client_id };
  counts.set(key, { code, ...ids, hour_ms: hourMs, last_at_ms: nowMs, calls: 1 });
  return true;
}

function take(counts: Map<string, RefusalCount>, max: number): RefusalCount[] {
  const taken = [...counts].slice(0, max);
  for (const [key] of taken) counts.delete(key);
  return taken.map(([, count]) => count);
}
