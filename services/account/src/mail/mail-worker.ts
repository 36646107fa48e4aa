import type { Logger } from '@tollgate/log';
import type { Query } from '../platform/database/query.ts';
import { observeBacklog } from '../platform/outbox/backlog.ts';
import { claimDue, postpone } from '../platform/outbox/leased-rows.ts';
import type { OutboxMetrics } from '../platform/outbox/metrics.ts';
import type { DueWatch } from '../platform/background/due-watch.ts';
import { startOutboxWorker } from '../platform/outbox/outbox-worker.ts';
import { repeated } from '../platform/outbox/repeated.ts';
import type { RetryWaits } from '../platform/outbox/repeated.ts';
import { renderMail } from './layout/render-mail.ts';
import type { MailSite } from './layout/mail-content.ts';
import { MAIL_OUTBOX } from './mail-outbox.ts';
import type { QueuedMail } from './mail-outbox.ts';
import { renderQueuedMail } from './mail-renderer.ts';
import type { AnyMailRenderers } from './mail-renderer.ts';
import { endMail } from './sent-mails.ts';
import type { MailOutcome } from './sent-mails.ts';
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
const RETRY_WAITS: RetryWaits = { first: 1_000, max: 300_000 };

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
    claim: (limit, except) =>
      claimDue(query, MAIL_OUTBOX, { limit, leaseMs: attemptTimeoutMs + LEASE_MARGIN_MS, except }),
    observe: () => observeBacklog(query, 'mail_outbox', metrics),
    attempt: repeated({
      work: (mail) => sendMail(options, mail),
      waits: RETRY_WAITS,
      postpone: ({ mail_id }, ms) => postpone(query, MAIL_OUTBOX, mail_id, ms),
      onFailed: () => {
        metrics.deliveries.inc({ outcome: 'failed' });
      },
      message: 'mail not sent; will retry',
      describe: describeFailure,
      logger,
    }),
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

/** @throws what `transport` throws, unless it is given up */
async function sendMail(options: MailWorkerOptions, mail: QueuedMail): Promise<void> {
  const { query, renderers, transport, site, logger, metrics } = options;
  const { mail_id, created_at, attempts } = mail;
  let outcome: MailOutcome = 'sent';
  try {
    const content = await renderQueuedMail(renderers, query, mail, site);
    if (content === undefined) outcome = 'outdated';
    else await transport.send(renderMail(content, site), mail_id);
  } catch (error) {
    const isTooOld = Date.now() - created_at.getTime() > GIVE_UP_AFTER_MS;
    if (!isRefusedForGood(error) && !isTooOld) throw error;
    outcome = 'given_up';
    logger.warn({ ...describeFailure(mail, error), attempts: attempts + 1 }, 'mail not sent; giving up');
  }
  metrics.deliveries.inc({ outcome: outcome === 'given_up' ? outcome : 'delivered' });
  await endMail(query, mail_id, outcome);
}

function describeFailure({ mail_id, kind }: QueuedMail, error: unknown): object {
  return { mail_id, kind, ...failureCodes(error) };
}

export const MAIL_METRICS = {
  name: 'tollgate_mail_outbox',
  pending: 'Mails not sent yet',
  deliveries: 'Mails attempted by this process, by outcome: delivered, failed or given_up',
};
