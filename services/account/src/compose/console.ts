import { resolve } from 'node:path';
import { Counter } from 'prom-client';
import type { Registry } from 'prom-client';
import type { Logger } from '@tollgate/log';
import { createAttemptCounts } from '../identity/attempts/attempt-counts.ts';
import { alertMails } from '../notifications/alerts/alert-mail.ts';
import { webhookMails } from '../notifications/deliveries/webhook-mail.ts';
import { handOverMails } from '../teams/hand-over-mail.ts';
import { invitationMails } from '../teams/invitations/invitation-mail.ts';
import { openAlerts } from './alerts.ts';
import type { Config } from '../config.ts';
import type { ConsoleParts } from '../routes/console-routes.ts';
import { openDatabase } from '../platform/database/database.ts';
import { createQuery } from '../platform/database/query.ts';
import type { Query, Transact } from '../platform/database/query.ts';
import { startHousekeeping } from '../platform/housekeeping/housekeeping.ts';
import { identityMails } from '../identity/mails/identity-mails.ts';
import type { AnyMailRenderers } from '../mail/mail-renderer.ts';
import { startMailWorker } from '../mail/mail-worker.ts';
import { folderTransport, smtpTransport } from '../mail/transport.ts';
import type { MailTransport } from '../mail/transport.ts';
import { MAIL_METRICS, createOutboxMetrics } from '../platform/outbox/metrics.ts';
import { createPasswordHasher } from '../identity/passwords/password-hasher.ts';
import type { PasswordHasher } from '../identity/passwords/password-hasher.ts';
import { createSessionCookie } from '../identity/sessions/session-cookie.ts';
import { createSlowDown } from '../identity/attempts/sign-in-limits.ts';

/** By kind of mail. */
const MAIL_RENDERERS: AnyMailRenderers = new Map(
  Object.entries({ ...identityMails, ...invitationMails, ...handOverMails, ...alertMails, ...webhookMails }),
);

/** A pool of its own, for what nobody waits for. */
const BACKGROUND = { poolMax: 2, acquireTimeoutMs: 5_000, statementTimeoutMs: 5_000 };

/** What the console's API works with, and what runs beside it: mails, alerts, webhooks and housekeeping. */
export function openConsole(options: {
  config: Config;
  query: Query;
  transact: Transact;
  logger: Logger;
  registry: Registry;
}): {
  parts: Omit<ConsoleParts, 'applications' | 'tokens' | 'usageQuery'>;
  close: () => Promise<void>;
} {
  const { config, query, transact, logger, registry } = options;
  const backgroundDatabase = openDatabase({ url: config.DATABASE_URL, logger, ...BACKGROUND });
  const backgroundQuery = createQuery(backgroundDatabase);
  const publicUrl = config.PUBLIC_URL;
  const lifetimes = {
    idleTimeoutSec: config.SESSION_IDLE_TIMEOUT_SEC,
    lifetimeSec: config.SESSION_LIFETIME_SEC,
  };
  const mails = startMailWorker({
    query: backgroundQuery,
    renderers: MAIL_RENDERERS,
    transport: mailTransport(config, logger),
    attemptTimeoutMs: config.MAIL_ATTEMPT_TIMEOUT_MS,
    publicUrl,
    logger,
    metrics: createOutboxMetrics(registry, MAIL_METRICS),
  });
  const housekeeping = startHousekeeping({
    query: backgroundQuery,
    intervalSec: config.HOUSEKEEPING_INTERVAL_SEC,
    sessionIdleTimeoutSec: lifetimes.idleTimeoutSec,
    retentionMonths: config.USAGE_RETENTION_MONTHS,
    deliveryRetentionSec: config.WEBHOOK_DELIVERY_RETENTION_SEC,
    refusedCallsRetentionDays: config.REFUSED_CALLS_RETENTION_DAYS,
    logger,
  });
  const alerts = openAlerts({ config, wakeMails: mails.wake, logger, registry });
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
      },
      slowDown: createSlowDown(),
      wakeMails: mails.wake,
      lifetimes,
      cookie: createSessionCookie({ secure: config.COOKIE_SECURE ?? publicUrl.startsWith('https:') }),
      publicUrl,
      signUpEnabled: config.SIGN_UP_ENABLED,
    },
    close: async () => {
      await alerts.close();
      await Promise.all([mails.close(), housekeeping.close()]);
      await backgroundDatabase.destroy();
    },
  };
}

function passwordHasher(config: Config, registry: Registry): PasswordHasher {
  const hashes = new Counter({
    name: 'tollgate_password_hashes_total',
    help: 'Password hashes worked out, by operation: hash (a new password) or verification',
    labelNames: ['operation'],
    registers: [registry],
  });
  return createPasswordHasher({
    queueMax: config.PASSWORD_HASH_QUEUE_MAX,
    onDone: (operation) => {
      hashes.inc({ operation });
    },
  });
}

/** The sender where mails go to a folder only: MAIL_FROM is needed with SMTP_URL (config.ts). */
const NOBODY = 'Tollgate <no-reply@localhost>';

function mailTransport(config: Config, logger: Logger): MailTransport {
  const { SMTP_URL: url, MAIL_FROM: from = NOBODY, MAIL_DIR } = config;
  if (url !== undefined) return smtpTransport({ url, from, timeoutMs: config.MAIL_ATTEMPT_TIMEOUT_MS });
  const directory = resolve(MAIL_DIR);
  logger.info({ mail_dir: directory }, 'SMTP_URL is not set: mails are written to this folder');
  return folderTransport({ directory, from });
}
