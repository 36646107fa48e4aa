import { findHoldings } from '../../billing/credits/holdings.ts';
import { enqueueMail } from '../../mail/mail-outbox.ts';
import type { Query } from '../../platform/database/query.ts';
import { singleRow } from '../../platform/database/single-row.ts';
import { enqueueDeliveries } from '../deliveries/stores/delivery-store.ts';
import type { CreditMail } from './credit-mail.ts';
import { lowEvent } from './event.ts';

/** Credits are low when this part or less of what could be used when the latest grant started is left. */
const LOW_PART = 0.2;

/** A grant has started: what can be used now is the new measure. */
export async function measureLevel(query: Query, account_id: number): Promise<void> {
  // Locks the row, so that what was left before the grant is never compared with this measure.
  const locked = await query<{ now: Date }>(
    `INSERT INTO credit_levels (account_id, points) VALUES (:account_id, 0)
     ON CONFLICT (account_id) DO UPDATE SET low_at = NULL RETURNING clock_timestamp() AS now`,
    { account_id },
  );
  const nowMs = singleRow(locked).now.getTime();
  const { points_remaining: points } = await findHoldings(query, account_id, nowMs);
  await query(
    `UPDATE credit_levels SET points = CAST(:points AS bigint),
       low_at = CASE WHEN CAST(:points AS bigint) = 0 THEN clock_timestamp() END
     WHERE account_id = :account_id`,
    { account_id, points },
  );
}

/** True if credits have become low, which is told once for each measure. `email`: who gets the mail, or null. */
export async function detectLowCredits(
  query: Query,
  account_id: number,
  email: string | null,
): Promise<boolean> {
  const [level] = await query<{ points: number; now: Date }>(
    `SELECT points, clock_timestamp() AS now FROM credit_levels
     WHERE account_id = :account_id AND low_at IS NULL FOR UPDATE`,
    { account_id },
  );
  if (level === undefined) return false;
  const { points, now } = level;
  const { points_remaining } = await findHoldings(query, account_id, now.getTime());
  if (points_remaining > points * LOW_PART) return false;
  await query('UPDATE credit_levels SET low_at = clock_timestamp() WHERE account_id = :account_id', {
    account_id,
  });
  await enqueueDeliveries(query, account_id, [lowEvent(now, account_id, { points, points_remaining })]);
  if (email !== null) {
    const mail: CreditMail = { kind: 'credits_low', recipient: email, account_id };
    await enqueueMail(query, mail);
  }
  return true;
}
