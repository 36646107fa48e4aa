import type { Credit } from '../../billing/credits/credit.ts';
import { findHoldings } from '../../billing/credits/holdings.ts';
import { enqueueMail } from '../../mail/mail-outbox.ts';
import type { Query } from '../../platform/database/query.ts';
import { singleRow } from '../../platform/database/single-row.ts';
import { enqueueDeliveries } from '../deliveries/stores/delivery-store.ts';
import type { CreditMail } from './credit-mail.ts';
import { grantEvent } from './event.ts';
import { measureLevel } from './level.ts';

export type CreditNotice = { notice_id: number; credit_id: number; kind: 'granted' | 'started' | 'expiring' };

/**
 * SQL that is true of notices that are due. The time is that of the statement, which an index can be searched by. Days:
 * CREDITS_EXPIRING_DAYS.
 */
export function dueNotice(days: number): string {
  const early = `interval '${String(days * 24)} hours'`;
  return `at <= statement_timestamp() + ${early} AND (kind = 'expiring' OR at <= statement_timestamp())
    AND next_attempt_at <= statement_timestamp()`;
}

/** Skips what other replicas are taking. */
export async function takeNotice(query: Query, days: number): Promise<CreditNotice | undefined> {
  const rows = await query<CreditNotice>(
    `DELETE FROM credit_notices WHERE notice_id = (
       SELECT notice_id FROM credit_notices WHERE ${dueNotice(days)} ORDER BY notice_id LIMIT 1
       FOR UPDATE SKIP LOCKED)
     RETURNING notice_id, credit_id, kind`,
  );
  return rows[0];
}

export async function putOffNotice(query: Query, noticeId: number, sec: number): Promise<void> {
  await query(
    `UPDATE credit_notices SET next_attempt_at = clock_timestamp() + CAST(:sec AS integer) * interval '1 second'
     WHERE notice_id = :noticeId`,
    { noticeId, sec },
  );
}

/** To whom an account's alerts are mailed; null for none. */
type MailedTo = (query: Query, accountId: number) => Promise<string | null>;

/** In the transaction that has taken the notice. */
export async function tellNotice(
  query: Query,
  { credit_id, kind }: CreditNotice,
  mailedTo: MailedTo,
): Promise<void> {
  const grant = await findGrant(query, credit_id);
  if (kind === 'granted') {
    const points_remaining = grant.points;
    await enqueueDeliveries(query, grant.account_id, [
      grantEvent('credits.granted', grant.created_at, { ...grant, points_remaining }),
    ]);
  } else if (kind === 'started') {
    await measureLevel(query, grant.account_id);
  } else {
    await tellExpiry(query, grant, mailedTo);
  }
}

type ToldGrant = Pick<
  Credit,
  'credit_id' | 'account_id' | 'points' | 'source' | 'effective_at' | 'expires_at' | 'created_at'
> & { now: Date };

/** Locks the account before anything of it. */
async function findGrant(query: Query, creditId: number): Promise<ToldGrant> {
  const rows = await query<ToldGrant>(
    `SELECT credit_id, credit_grants.account_id, points, source, effective_at, expires_at,
       credit_grants.created_at, clock_timestamp() AS now
     FROM accounts JOIN credit_grants USING (account_id) WHERE credit_id = :creditId
     FOR KEY SHARE OF accounts`,
    { creditId },
  );
  return singleRow(rows);
}

/** Of what is left; nothing if it is used, voided or expired by now. */
async function tellExpiry(query: Query, grant: ToldGrant, mailedTo: MailedTo): Promise<void> {
  const { account_id, credit_id, now } = grant;
  const { credits } = await findHoldings(query, account_id, now.getTime());
  const held = credits.find((credit) => credit.credit_id === credit_id);
  if (held === undefined) return;
  await enqueueDeliveries(query, account_id, [grantEvent('credits.expiring', now, held)]);
  const recipient = await mailedTo(query, account_id);
  if (recipient === null) return;
  const mail: CreditMail = { kind: 'credits_expiring', recipient, account_id, credit_id };
  await enqueueMail(query, mail);
}
