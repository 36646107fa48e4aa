import { grantCredits, reduceCredit, voidCredit } from '../../billing/credits/changes.ts';
import type { LockInstant } from '../../billing/credits/changes.ts';
import { overagePrice } from '../../billing/periods/limits.ts';
import type { OveragePrice } from '../../billing/periods/limits.ts';
import type { Query } from '../../platform/database/query.ts';
import { PAYMENTS_ACTOR } from '../actor.ts';
import { reportIssue, settleIssue } from '../issues/store.ts';
import {
  addGrant,
  addPeriod,
  findSettings,
  insertCharge,
  listOpenPeriods,
  listOverageGrants,
  listReportable,
  listUncharged,
  setPeriodCap,
} from './store.ts';
import type { OpenPeriod, OverageGrant, OverageSettings } from './store.ts';
import { amountOf } from './amount.ts';
import { enqueueUnpaidMail } from './overage-mail.ts';

/** Its grants come last whatever it is. */
const PRIORITY = 100;

/**
 * Brings the further points of an account's periods to what it has agreed to, by grants of their own: another one if
 * they are too few, and the last points are taken back if they are too many. How many of those were unused is known once
 * the usage before is settled, which asks for the next step: until then none are given. The account is locked; `query`
 * is a transaction's.
 */
export async function settleOverage(
  query: Query,
  lockInstant: LockInstant,
  accountId: number,
): Promise<void> {
  const settings = await findSettings(query, accountId);
  const periods = await listOpenPeriods(query, accountId);
  const before = await listOverageGrants(query, accountId);
  // Of a period that was withdrawn, or ends at another instant now.
  const misplaced = before.filter((grant) => periods.every((period) => !isOf(grant, period)));
  await voidAll(query, lockInstant, misplaced);
  const grants = misplaced.length === 0 ? before : await listOverageGrants(query, accountId);
  for (const period of periods) {
    const own = grants.filter(({ period_id }) => period_id === period.period_id);
    const price = priceFor(period, settings);
    const wanted = price === null ? 0 : settings.cap_points;
    await setPeriodCap(query, period.period_id, wanted);
    const given = own.reduce((sum, one) => sum + one.points - one.points_voided - one.points_ending, 0);
    const isPending = own.some(({ points_ending }) => points_ending > 0);
    if (given > wanted) await takeBack(query, lockInstant, own, given - wanted);
    else if (given < wanted && price !== null && !isPending) {
      await give(query, lockInstant, {
        accountId,
        period,
        price,
        cap_points: wanted,
        points: wanted - given,
      });
    }
  }
}

/** What a period's plan asks for further points; null if it sells none, or not in the currency that the plan is charged in. */
export function offeredFor({
  description,
  price_per_1000,
  currency,
  plan_currency,
}: OpenPeriod): OveragePrice | null {
  const sold = overagePrice(description);
  if (sold === null) return null;
  const price = price_per_1000 !== null && currency !== null ? { price_per_1000, currency } : sold;
  // An invoice has one currency, and at Stripe so has a customer with a subscription.
  return plan_currency === null || plan_currency === price.currency ? price : null;
}

export const STOPS = ['not_offered', 'price_changed', 'unpaid'] as const;

/**
 * Why a period has no further points whatever the cap is: none are offered, the customer hasn't agreed to this price, or
 * hasn't paid for those before. Null if nothing stops them.
 */
export function stopOf(
  period: OpenPeriod,
  { price: agreed }: OverageSettings,
): (typeof STOPS)[number] | null {
  const price = offeredFor(period);
  if (price === null) return 'not_offered';
  const isAgreed =
    agreed !== null && price.currency === agreed.currency && price.price_per_1000 <= agreed.price_per_1000;
  if (!isAgreed) return 'price_changed';
  return period.is_unpaid ? 'unpaid' : null;
}

/** What further points of a period cost; null if something stops them. */
function priceFor(period: OpenPeriod, settings: OverageSettings): OveragePrice | null {
  return stopOf(period, settings) === null ? offeredFor(period) : null;
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

/** The points that would be used last, so that what is left within the cap stays usable meanwhile. */
async function takeBack(
  query: Query,
  lockInstant: LockInstant,
  grants: readonly OverageGrant[],
  excess: number,
): Promise<void> {
  let open = excess;
  for (const grant of grants.toReversed()) {
    const points = Math.min(open, grant.points_remaining - grant.points_ending);
    if (points === 0) continue;
    open -= points;
    if (points === grant.points_remaining) {
      await voidCredit(query, lockInstant, grant.credit_id, 'voided', PAYMENTS_ACTOR);
    } else {
      await reduceCredit(query, lockInstant, grant, points, PAYMENTS_ACTOR);
    }
  }
}

async function give(
  query: Query,
  lockInstant: LockInstant,
  {
    accountId,
    period,
    price,
    cap_points,
    points,
  }: { accountId: number; period: OpenPeriod; price: OveragePrice; cap_points: number; points: number },
): Promise<void> {
  const { period_id, started_at, ends_at } = period;
  const account_id = accountId;
  const nowMs = await lockInstant(query, accountId);
  // The border belongs to the renewal.
  if (ends_at.getTime() <= nowMs) return;
  await addPeriod(query, { period_id, account_id, cap_points, ...price });
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

/** Operators see which invoices for further points aren't paid, and the customer is told once of each. The account is locked. */
export async function reportUnpaid(query: Query, account_id: number): Promise<void> {
  for (const invoice of await listReportable(query, account_id)) {
    const { stripe_invoice_id: object_id, number, total: amount, currency, is_unpaid } = invoice;
    const issue = { kind: 'overage_unpaid', object_id } as const;
    if (!is_unpaid) await settleIssue(query, issue);
    else if (await reportIssue(query, { ...issue, account_id, details: { number, amount, currency } }))
      await enqueueUnpaidMail(query, account_id);
  }
}

/**
 * Charges what closed periods have used of their further points, and corrects it after late usage. Since only grants are
 * charged, and the closing brings back no more of them than the cap, it is never more than was agreed to. The account is locked; `query` is a transaction's.
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
