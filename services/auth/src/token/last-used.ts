import { MAX_USES_PER_REPORT } from '@tollgate/contracts/manual-tokens';
import type { TokenUses } from '@tollgate/contracts/manual-tokens';
import type { Logger } from '@tollgate/log';
import type { PrivateApi } from '@tollgate/http/private-api-client';
import { startLoop } from '@tollgate/server/background-loop';

export type LastUsed = {
  /** No I/O; never throws. */
  note: (tokenHash: string) => void;
  /** Reports once more. */
  close: () => Promise<void>;
};

/** Uses beyond `maxEntries` per interval and those of a killed process are lost; failed reports are repeated. */
export function startLastUsed(options: {
  account: Pick<PrivateApi, 'postJson'>;
  intervalMs: number;
  maxEntries: number;
  nowMs: () => number;
  logger: Pick<Logger, 'warn'>;
}): LastUsed {
  const { account, intervalMs, maxEntries, nowMs, logger } = options;
  const lastUses = new Map<string, number>();
  let failing = false;

  async function report(): Promise<void> {
    const noted = [...lastUses];
    for (let at = 0; at < noted.length; at += MAX_USES_PER_REPORT) {
      const batch = noted.slice(at, at + MAX_USES_PER_REPORT);
      const body: TokenUses = { uses: batch.map(([token_hash, used_at]) => ({ token_hash, used_at })) };
      await account.postJson('/private/manual-tokens/uses', body);
      // A token that was used again meanwhile stays for the next report.
      for (const [hash, at] of batch) if (lastUses.get(hash) === at) lastUses.delete(hash);
    }
  }

  async function tryReport(): Promise<void> {
    try {
      await report();
      failing = false;
    } catch (error) {
      const err = error instanceof Error && error.cause instanceof Error ? error.cause : error;
      if (!failing) logger.warn({ err }, 'reporting the last uses of tokens to account failed; retrying');
      failing = true;
    }
  }

  const loop = startLoop(async () => {
    await tryReport();
    return intervalMs;
  });
  return {
    note: (tokenHash) => {
      if (lastUses.size < maxEntries || lastUses.has(tokenHash)) {
        lastUses.set(tokenHash, Math.floor(nowMs() / 1_000));
      }
    },
    close: async () => {
      await loop.close();
      await tryReport();
    },
  };
}
