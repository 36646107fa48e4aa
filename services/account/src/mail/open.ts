import { resolve } from 'node:path';
import type { Logger } from '@tollgate/log';
import type { Config } from '../config.ts';
import { createWorker } from '../platform/background/worker.ts';
import type { Worker } from '../platform/background/worker.ts';
import { createQuery } from '../platform/database/query.ts';
import type { Platform } from '../platform/open.ts';
import { createOutboxMetrics } from '../platform/outbox/metrics.ts';
import { mailLogo } from './layout/logo.ts';
import type { AnyMailRenderers } from './mail-renderer.ts';
import { MAIL_METRICS, startMailWorker } from './mail-worker.ts';
import type { Sender } from './sender.ts';
import { folderTransport, smtpTransport } from './transport.ts';
import type { MailTransport } from './transport.ts';

/** Without SMTP_URL, which requires MAIL_FROM (config.ts), mails go to a folder. */
const FOLDER_SENDER: Sender = { name: 'Tollgate', address: 'no-reply@localhost' };

export function openMail(
  { config, pools, logger, registry }: Pick<Platform, 'config' | 'pools' | 'logger' | 'registry'>,
  renderers: AnyMailRenderers,
): { needs: { wakeMails: () => void }; workers: Worker[] } {
  const mails = createWorker(({ dueWatch }) =>
    startMailWorker({
      query: createQuery(pools.mailsAndHousekeeping),
      renderers,
      transport: mailTransport(config, logger),
      attemptTimeoutMs: config.MAIL_ATTEMPT_TIMEOUT_MS,
      site: {
        publicUrl: config.PUBLIC_URL,
        productName: config.PRODUCT_NAME,
        supportUrl: config.SUPPORT_URL ?? null,
        logo: mailLogo(config.PRODUCT_LOGO_PATH),
      },
      dueWatch,
      logger,
      metrics: createOutboxMetrics(registry, MAIL_METRICS),
    }),
  );
  return { needs: { wakeMails: mails.wake }, workers: [mails] };
}

function mailTransport(config: Config, logger: Logger): MailTransport {
  const { SMTP_URL: url, MAIL_FROM: from = FOLDER_SENDER, MAIL_DIR } = config;
  if (url !== undefined) return smtpTransport({ url, from, timeoutMs: config.MAIL_ATTEMPT_TIMEOUT_MS });
  const directory = resolve(MAIL_DIR);
  logger.info({ mail_dir: directory }, 'SMTP_URL is not set; writing mails to this directory');
  return folderTransport({ directory, from });
}
