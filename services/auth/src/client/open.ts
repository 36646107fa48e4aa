import { redisTls } from '@tollgate/config/store-tls';
import type { FailedAttempts } from '../abuse/failed-attempts.ts';
import type { RunQueued } from '../abuse/look-up-queue.ts';
import type { Platform } from '../platform/open.ts';
import { createClientAuthenticator } from './authenticator.ts';
import type { AuthenticateClient } from './authenticator.ts';
import { createClientStore } from './client-store.ts';
import { createClientDirectory } from './directory.ts';
import type { ClientDirectory } from './directory.ts';
import { followChanges } from './follow-changes.ts';

/** account's clients as Redis caches them, and who has a client's secret. */
export function openClients(
  { config, logger, redis, nowMs, account }: Platform,
  { failedAttempts, queued }: { failedAttempts: FailedAttempts; queued: RunQueued },
): { needs: { clients: ClientDirectory; authenticate: AuthenticateClient }; close: () => void } {
  const clients = createClientDirectory({
    store: createClientStore(redis, config.CLIENT_CACHE_TTL_MS),
    account,
    cacheTtlMs: config.CLIENT_CACHE_TTL_MS,
    unknownMaxEntries: config.UNKNOWN_CLIENT_CACHE_MAX_ENTRIES,
    queued,
    logger,
  });
  const followed = followChanges({
    url: config.REDIS_URL,
    tls: redisTls(config),
    alongside: redis,
    clients,
    logger,
  });
  const authenticate = createClientAuthenticator({
    clients,
    peppers: config.CLIENT_SECRET_PEPPERS,
    nowMs,
    failedAttempts,
  });
  return { needs: { clients, authenticate }, close: followed.close };
}
