import { availableParallelism } from 'node:os';
import { Counter } from 'prom-client';
import type { Registry } from 'prom-client';
import type { Logger } from '@tollgate/log';
import { createAttemptCounts } from '../identity/attempts/attempt-counts.ts';
import { openAlerts } from './alerts.ts';
import type { Config } from '../config.ts';
import type { OwnerNeeds } from '../api/owner.ts';
import { openDatabase } from '../platform/database/database.ts';
import type { PostgresServer } from '../platform/database/postgres-server.ts';
import { createQuery, createTransact } from '../platform/database/query.ts';
import type { Query, Transact } from '../platform/database/query.ts';
import { startErasures } from '../lifecycle/deletion/erasure-worker.ts';
import { startHousekeeping } from '../lifecycle/housekeeping/housekeeping.ts';
import type { DueWatch } from '../platform/background/due-watch.ts';
import { createPasswordHasher, hashWidth } from '../identity/passwords/password-hasher.ts';
import type { PasswordHasher } from '../identity/passwords/password-hasher.ts';
import { createSessionCookie } from '../identity/sessions/session-cookie.ts';
import { createSlowDown } from '../identity/attempts/sign-in-limits.ts';
import { relyingPartyOf } from '../identity/two-factor/passkeys/relying-party.ts';
import { DATABASE_POOLS } from '../platform/database/pools.ts';
import { openExports } from './exports.ts';
import { startMails } from './mails.ts';
import { openPlans } from './plans.ts';

/** Also starts mails, alerts, webhooks and housekeeping. */
export function openConsole(options: {
  config: Config;
  server: PostgresServer;
  query: Query;
  transact: Transact;
  dueWatch: DueWatch;
  logger: Logger;
  registry: Registry;
}): {
  parts: Omit<
    OwnerNeeds,
    ('applications' | 'tokens' | 'usageQuery' | 'deliver') | ('liveFeeds' | 'refuseBlocked' | 'apiDocument')
  > & { publicUrl: string };
  close: () => Promise<void>;
} {
  const { config, server, query, transact, dueWatch, logger, registry } = options;
  const backgroundDatabase = openDatabase({
    server,
    logger,
    ...DATABASE_POOLS.mailsAndHousekeeping,
  });
  const backgroundQuery = createQuery(backgroundDatabase);
  const publicUrl = config.PUBLIC_URL;
  const lifetimes = {
    idleTimeoutSec: config.SESSION_IDLE_TIMEOUT_SEC,
    lifetimeSec: config.SESSION_LIFETIME_SEC,
  };
  const mails = startMails({ config, query: backgroundQuery, dueWatch, logger, registry });
  const background = { query: backgroundQuery, transact: createTransact(backgroundDatabase) };
  const upkeep = startUpkeep({ config, ...background, wakeMails: mails.wake, logger });
  const plans = openPlans({ config, transact, background, dueWatch, logger, registry });
  const exports = openExports({ server, logger });
  const alerts = openAlerts({ config, server, wakeMails: mails.wake, dueWatch, logger, registry });
  return {
    parts: {
      ...alerts.parts,
      query,
      transact,
      hasher: passwordHasher(config, registry),
      counts: createAttemptCounts(query),
      signInLimits: {
        windowSec: config.SIGN_IN_WINDOW_SEC,
        perAccountAndAddress: config.SIGN_IN_FAILURES_PER_ACCOUNT_AND_ADDRESS,
        perAddress: config.SIGN_IN_FAILURES_PER_ADDRESS,
      },
      mailLimits: {
        windowSec: config.MAIL_REQUESTS_WINDOW_SEC,
        perRecipient: config.MAIL_REQUESTS_PER_RECIPIENT,
        perAddress: config.MAIL_REQUESTS_PER_ADDRESS,
        perAccount: config.MAIL_REQUESTS_PER_ACCOUNT,
      },
      slowDown: createSlowDown(),
      wakeMails: mails.wake,
      lifetimes,
      cookie: createSessionCookie({ secure: config.COOKIE_SECURE ?? publicUrl.startsWith('https:') }),
      addresses: { streamingUrl: config.STREAMING_URL ?? null, authUrl: config.AUTH_URL ?? null },
      publicUrl,
      deletionGraceDays: config.ACCOUNT_DELETION_GRACE_DAYS,
      sealingKeys: config.TOKEN_SEALING_KEYS,
      relyingParty: relyingPartyOf(publicUrl),
      productName: config.PRODUCT_NAME,
      signUpEnabled: config.SIGN_UP_ENABLED,
      ...plans.parts,
      ...exports.parts,
    },
    close: async () => {
      await Promise.all([alerts.close(), plans.close()]);
      await Promise.all([mails.close(), upkeep.close(), exports.close()]);
      await backgroundDatabase.destroy();
    },
  };
}

/** Removes what has expired, and erases accounts whose deletion is due. */
function startUpkeep({
  config,
  query,
  transact,
  wakeMails,
  logger,
}: {
  config: Config;
  query: Query;
  transact: Transact;
  wakeMails: () => void;
  logger: Logger;
}): { close: () => Promise<void> } {
  const intervalSec = config.HOUSEKEEPING_INTERVAL_SEC;
  const housekeeping = startHousekeeping({
    query,
    intervalSec,
    sessionIdleTimeoutSec: config.SESSION_IDLE_TIMEOUT_SEC,
    retentionMonths: config.USAGE_RETENTION_MONTHS,
    deliveryRetentionSec: config.WEBHOOK_DELIVERY_RETENTION_SEC,
    refusedCallsRetentionDays: config.REFUSED_CALLS_RETENTION_DAYS,
    logger,
  });
  const erasures = startErasures({ transact, intervalSec, wakeMails, logger });
  return {
    close: async () => {
      await Promise.all([housekeeping.close(), erasures.close()]);
    },
  };
}

function passwordHasher(config: Config, registry: Registry): PasswordHasher {
  const hashes = new Counter({
    name: 'tollgate_password_hashes_total',
    help: 'Password hashes computed, by operation: hash (a new password) or verification',
    labelNames: ['operation'],
    registers: [registry],
  });
  return createPasswordHasher({
    queueMax: config.PASSWORD_HASH_QUEUE_MAX,
    width: hashWidth({ cores: availableParallelism(), threads: config.UV_THREADPOOL_SIZE }),
    onDone: (operation) => {
      hashes.inc({ operation });
    },
  });
}
