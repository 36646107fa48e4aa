import type { Logger } from '@tollgate/log';
import type { Query } from '../platform/database/query.ts';
import { observeBacklog } from '../platform/outbox/backlog.ts';
import { claimDue, postpone, removeRow } from '../platform/outbox/leased-rows.ts';
import type { OutboxMetrics } from '../platform/outbox/metrics.ts';
import type { DueWatch } from '../platform/background/due-watch.ts';
import { isAttemptToLog, startOutboxWorker } from '../platform/outbox/outbox-worker.ts';
import type { Attempt } from '../platform/outbox/outbox-worker.ts';
import { renderMail } from './layout/render-mail.ts';
import type { MailSite } from './layout/mail-content.ts';
import { MAIL_OUTBOX } from './mail-outbox.ts';
import type { QueuedMail } from './mail-outbox.ts';
import { renderQueuedMail } from './mail-renderer.ts';
import type { AnyMailRenderers } from './mail-renderer.ts';
import { failureCodes, isRefusedForGood } from './transport.ts';
import type { MailTransport } from './transport.ts';

/** `query` has its own pool, so that requests and revocations don't wait for mails. */
export type MailWorkerOptions = {
  query: Query;
  renderers: AnyMailRenderers;
  transport: MailTransport;
  attemptTimeoutMs: number;
  site: MailSite;
  dueWatch: DueWatch;
  logger: Pick<Logger, 'info' | 'warn'>;
  metrics: OutboxMetrics;
};

export type MailWorker = { wake: () => void; close: () => Promise<void> };

const MAX_IN_FLIGHT = 8;
const FIRST_RETRY_MS = 1_000;
const MAX_RETRY_MS = 300_000;

/** A lease must outlast the attempt and the statements around it. */
const LEASE_MARGIN_MS = 5_000;

/** A mail this old is no longer useful: the user has requested another. */
const GIVE_UP_AFTER_MS = 24 * 3_600_000;

/** A mail that was sent but couldn't be removed from the outbox is sent again, with another link. */
export function startMailWorker(options: MailWorkerOptions): MailWorker {
  const { query, transport, attemptTimeoutMs, metrics, logger } = options;
  const worker = startOutboxWorker<QueuedMail>({
    name: 'mail',
    idOf: ({ mail_id }) => mail_id,
    claim: async (limit, except) => {
      const leaseMs = attemptTimeoutMs + LEASE_MARGIN_MS;
      const rows =
        limit > 0 ? await claimDue<QueuedMail>(query, MAIL_OUTBOX, { limit, leaseMs, except }) : [];
      await observeBacklog(query, 'mail_outbox', metrics);
      return rows;
    },
    attempt: (mail) => attemptMail(options, mail),
    maxInFlight: MAX_IN_FLIGHT,
    due: { dueWatch: options.dueWatch, condition: 'EXISTS (SELECT FROM mail_outbox)' },
    logger,
  });
  return {
    wake: worker.wake,
    close: async () => {
      await worker.close();
      transport.close();
    },
  };
}

async function attemptMail(options: MailWorkerOptions, mail: QueuedMail): Promise<Attempt> {
  const { query, renderers, transport, site, logger, metrics } = options;
  const { mail_id, kind, attempts } = mail;
  try {
    const content = await renderQueuedMail(renderers, query, mail, site);
    if (content !== undefined) await transport.send(renderMail(content, site), mail_id);
  } catch (error) {
    const failure = { mail_id, kind, attempts: attempts + 1, ...failureCodes(error) };
    if (isRefusedForGood(error) || Date.now() - mail.created_at.getTime() > GIVE_UP_AFTER_MS) {
      metrics.deliveries.inc({ outcome: 'given_up' });
      logger.warn(failure, 'mail not sent; giving up');
      await removeRow(query, MAIL_OUTBOX, mail_id);
      return { delivered: true };
    }
    metrics.deliveries.inc({ outcome: 'failed' });
    if (isAttemptToLog(attempts + 1)) logger.warn(failure, 'mail not sent; will retry');
    const retryInMs = Math.min(FIRST_RETRY_MS * 2 ** attempts, MAX_RETRY_MS);
    await postpone(query, MAIL_OUTBOX, mail_id, retryInMs);
    return { delivered: false, retryInMs };
  }
  metrics.deliveries.inc({ outcome: 'delivered' });
  await removeRow(query, MAIL_OUTBOX, mail_id);
  return { delivered: true };
}

export const MAIL_METRICS = {
  name: 'tollgate_mail_outbox',
  pending: 'Mails not sent yet',
  deliveries: 'Mails attempted by this process, by outcome: delivered, failed or given_up',
};
