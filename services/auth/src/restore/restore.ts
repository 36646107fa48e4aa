import { randomUUID } from 'node:crypto';
import type { Gauge } from 'prom-client';
import { clientPageSchema } from '@tollgate/contracts/manual-tokens';
import type { ClientPage } from '@tollgate/contracts/manual-tokens';
import type { Logger } from '@tollgate/log';
import type { PrivateApi } from '@tollgate/http/private-api-client';
import { pause, startLoop } from '@tollgate/server/background-loop';
import type { ClientDirectory } from '../client/directory.ts';
import type { RestoreStore } from './restore-store.ts';

export type RestoreOptions = {
  store: RestoreStore;
  account: Pick<PrivateApi, 'get'>;
  clients: Pick<ClientDirectory, 'find'>;
  checkIntervalMs: number;
  maxInFlight: number;
  logger: Pick<Logger, 'info' | 'warn'>;
  gauge: Pick<Gauge, 'set'>;
};

export type Restore = {
  /** Whether manual tokens are still being loaded; look-ups answer correctly meanwhile. */
  restoring: () => boolean;
  close: () => Promise<void>;
};

const RETRY_MS = 500;

/** Whenever Redis' marker is missing or names another data set, one replica loads all live manual tokens. */
export function startRestore(options: RestoreOptions): Restore {
  const { store, checkIntervalMs, logger, gauge } = options;
  const owner = randomUUID();
  let restoring = true;
  gauge.set(1);

  function setRestoring(value: boolean): void {
    restoring = value;
    gauge.set(value ? 1 : 0);
  }

  async function check(signal: AbortSignal): Promise<void> {
    const { state, dataSet } = await store.begin(owner);
    setRestoring(state !== 'done');
    if (state !== 'begin') return;
    logger.info('restoring manual tokens');
    const clients = await loadAll(options, { owner, dataSet }, signal);
    const finished = clients !== null && (await store.finish(owner, dataSet));
    if (!finished) return;
    setRestoring(false);
    logger.info({ clients }, 'restored manual tokens');
  }

  const loop = startLoop(async (signal) => {
    // The connection logs that Redis is unavailable, and readiness reports it.
    await check(signal).catch(() => undefined);
    // A long interval is for finding losses. What is known to be incomplete is looked at again soon.
    return restoring ? Math.min(RETRY_MS, checkIntervalMs) : checkIntervalMs;
  });
  return { restoring: () => restoring, close: loop.close };
}

/** The number of loaded clients; null if the lease or the data was lost. */
async function loadAll(
  { store, account, clients, maxInFlight, logger }: RestoreOptions,
  { owner, dataSet }: { owner: string; dataSet: string },
  signal: AbortSignal,
): Promise<number | null> {
  let loaded = 0;
  let failing = false;
  let left: string[] = [];
  let after: number | null = 0;
  while (after !== null || left.length > 0) {
    if (signal.aborted || !(await store.renew(owner, dataSet))) return null;
    try {
      // Pages come first, so that a client that can't be loaded doesn't delay the others.
      if (after !== null && left.length < maxInFlight) {
        const page = await nextPage(account, after);
        left = [...left, ...page.client_ids];
        after = page.next_after;
      }
      const some = left.splice(0, maxInFlight);
      const outcomes = await Promise.allSettled(some.map((clientId) => clients.find(clientId, randomUUID())));
      const failed = some.filter((_, at) => outcomes[at]?.status === 'rejected');
      loaded += some.length - failed.length;
      left.push(...failed);
      const reason = outcomes.find((outcome) => outcome.status === 'rejected');
      if (reason !== undefined) throw reason.reason;
    } catch (error) {
      const err = error instanceof Error && error.cause instanceof Error ? error.cause : error;
      if (!failing) logger.warn({ err }, 'restoring manual tokens failed; retrying');
      failing = true;
      await pause(RETRY_MS, signal);
    }
  }
  return loaded;
}

async function nextPage(account: RestoreOptions['account'], after: number): Promise<ClientPage> {
  const path = `/private/manual-tokens/clients?after=${String(after)}`;
  const page = await account.get(path, clientPageSchema);
  if (page === null) throw new Error('account returned no list of clients');
  return page;
}
