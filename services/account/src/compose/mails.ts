import { resolve } from 'node:path';
import type { Registry } from 'prom-client';
import type { Logger } from '@tollgate/log';
import type { Config } from '../config.ts';
import { identityMails } from '../identity/mails/identity-mails.ts';
import { twoFactorMails } from '../identity/two-factor/two-factor-mails.ts';
import type { AnyMailRenderers } from '../mail/mail-renderer.ts';
import type { Sender } from '../mail/sender.ts';
import { MAIL_METRICS, startMailWorker } from '../mail/mail-worker.ts';
import type { MailWorker } from '../mail/mail-worker.ts';
import { folderTransport, smtpTransport } from '../mail/transport.ts';
import type { MailTransport } from '../mail/transport.ts';
import { deletionMails } from '../lifecycle/deletion/deletion-mails.ts';
import { alertMails } from '../notifications/alerts/alert-mail.ts';
import { webhookMails } from '../notifications/deliveries/webhook-mail.ts';
import type { Query } from '../platform/database/query.ts';
import { createOutboxMetrics } from '../platform/outbox/metrics.ts';
import type { DueWatch } from '../platform/background/due-watch.ts';
import { handOverMails } from '../teams/hand-over-mail.ts';
import { invitationMails } from '../teams/invitations/invitation-mail.ts';

export const MAIL_RENDERERS: AnyMailRenderers = new Map(
  Object.entries({
    ...identityMails,
    ...twoFactorMails,
    ...invitationMails,
    ...handOverMails,
    ...alertMails,
    ...webhookMails,
    ...deletionMails,
  }),
);

/** Without SMTP_URL, which requires MAIL_FROM (config.ts), mails go to a folder. */
const FOLDER_SENDER: Sender = { name: 'Tollgate', address: 'no-reply@localhost' };

export function startMails(parts: {
  config: Config;
  query: Query;
  dueWatch: DueWatch;
  logger: Logger;
  registry: Registry;
}): MailWorker {
  const { config, query, dueWatch, logger, registry } = parts;
  return startMailWorker({
    query,
    renderers: MAIL_RENDERERS,
    transport: mailTransport(config, logger),
    attemptTimeoutMs: config.MAIL_ATTEMPT_TIMEOUT_MS,
    site: { publicUrl: config.PUBLIC_URL, productName: config.PRODUCT_NAME },
    dueWatch,
    logger,
    metrics: createOutboxMetrics(registry, MAIL_METRICS),
  });
}

function mailTransport(config: Config, logger: Logger): MailTransport {
  const { SMTP_URL: url, MAIL_FROM: from = FOLDER_SENDER, MAIL_DIR } = config;
  if (url !== undefined) return smtpTransport({ url, from, timeoutMs: config.MAIL_ATTEMPT_TIMEOUT_MS });
  const directory = resolve(MAIL_DIR);
  logger.info({ mail_dir: directory }, 'SMTP_URL is not set; writing mails to this directory');
  return folderTransport({ directory, from });
}
