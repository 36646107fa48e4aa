import { grantCredits, voidCredit } from '../../billing/credits/changes.ts';
import type { LockInstant } from '../../billing/credits/changes.ts';
import { overagePrice } from '../../billing/periods/limits.ts';
import type { OveragePrice } from '../../billing/periods/limits.ts';
import type { Query } from '../../platform/database/query.ts';
import { PAYMENTS_ACTOR } from '../actor.ts';
import {
  addGrant,
  addPeriod,
  findSettings,
  insertCharge,
  listOpenPeriods,
  listOverageGrants,
  listUncharged,
} from './store.ts';
import type { OpenPeriod, OverageGrant, OverageSettings } from './store.ts';
import { amountOf } from './amount.ts';

/** Its grants come last whatever it is. */
const PRIORITY = 100;

/**
 * Brings the further points of an account's periods to what it has agreed to, by grants of their own: another one if
 * they are too few, a void if they are too many. How much was left then is known once the usage before is settled, which
 * asks for the next step. The account is locked; `query` is a transaction's.
 */
export async function settleOverage(
  query: Query,
  lockInstant: LockInstant,
  accountId: number,
): Promise<void> {
  const settings = await findSettings(query, accountId);
  const periods = await listOpenPeriods(query, accountId);
  const grants = await listOverageGrants(query, accountId);
  // Of a period that was withdrawn, or ends at another instant now.
  const misplaced = grants.filter((grant) => periods.every((period) => !isOf(grant, period)));
  await voidAll(query, lockInstant, misplaced);
  for (const period of periods) {
    const own = grants.filter(({ period_id }) => period_id === period.period_id);
    const price = priceFor(period, settings);
    const wanted = price === null ? 0 : settings.cap_points;
    const given = own.reduce((sum, { points, points_voided }) => sum + points - points_voided, 0);
    const isPending = own.some((grant) => grant.is_voiding || misplaced.includes(grant));
    if (isPending) continue;
    if (given > wanted) await voidAll(query, lockInstant, own);
    else if (given < wanted && price !== null) {
      await give(query, lockInstant, { accountId, period, price, points: wanted - given });
    }
  }
}

/**
 * What further points of a period cost; null if there are none: its plan sells none, or the customer hasn't agreed to
 * this price.
 */
export function priceFor(
  { description, price_per_1000, currency }: Pick<OpenPeriod, 'description' | 'price_per_1000' | 'currency'>,
  { price: agreed }: OverageSettings,
): OveragePrice | null {
  const sold = overagePrice(description);
  if (sold === null) return null;
  const price = price_per_1000 !== null && currency !== null ? { price_per_1000, currency } : sold;
  const isAgreed =
    agreed !== null && price.currency === agreed.currency && price.price_per_1000 <= agreed.price_per_1000;
  return isAgreed ? price : null;
}

function isOf(grant: OverageGrant, period: OpenPeriod): boolean {
  return grant.period_id === period.period_id && +grant.expires_at === +period.ends_at;
}

async function voidAll(
  query: Query,
  lockInstant: LockInstant,
  grants: readonly OverageGrant[],
): Promise<void> {
  for (const { credit_id, points_remaining, is_void, is_voiding } of grants) {
    if (points_remaining === 0 || is_void || is_voiding) continue;
    await voidCredit(query, lockInstant, credit_id, 'voided', PAYMENTS_ACTOR);
  }
}

async function give(
  query: Query,
  lockInstant: LockInstant,
  {
    accountId,
    period,
    price,
    points,
  }: { accountId: number; period: OpenPeriod; price: OveragePrice; points: number },
): Promise<void> {
  const { period_id, started_at, ends_at } = period;
  const account_id = accountId;
  const nowMs = await lockInstant(query, accountId);
  // The border belongs to the renewal.
  if (ends_at.getTime() <= nowMs) return;
  await addPeriod(query, { period_id, account_id, ...price });
  const [{ number } = { number: 0 }] = await query<{ number: number }>(
    'SELECT count(*) AS number FROM overage_grants WHERE period_id = :period_id',
    { period_id },
  );
  const effective_at = started_at.getTime() > nowMs ? started_at : null;
  const terms = { source: 'overage' as const, priority: PRIORITY, effective_at, expires_at: ends_at };
  const { credit } = await grantCredits(
    query,
    lockInstant,
    { account_id, points, note: null, purchase_id: null, ...terms },
    { reporter: 'overage', idempotency_key: `${String(period_id)}:${String(number + 1)}` },
    PAYMENTS_ACTOR,
  );
  await addGrant(query, credit.credit_id, period_id);
}

/**
 * Charges what closed periods have used of their further points, and corrects it after late usage. Since only grants are
 * charged, it is never more than was agreed to. The account is locked; `query` is a transaction's.
 */
export async function chargeOverage(query: Query, account_id: number): Promise<void> {
  for (const one of await listUncharged(query, account_id)) {
    const { period_id, used, charges } = one;
    const amount = amountOf(used, one) - one.charged_amount;
    // Less than half of the smallest amount.
    if (amount === 0) continue;
    const first = `overage:${String(period_id)}`;
    const charge_key = charges === 0 ? first : `${first}:${String(charges + 1)}`;
    await insertCharge(query, {
      charge_key,
      account_id,
      period_id,
      points: used - one.charged_points,
      amount,
    });
  }
}
