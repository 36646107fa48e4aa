import { Problem } from '@tollgate/http/problem';
import type { LockInstant } from '../../billing/credits/changes.ts';
import type { OveragePrice } from '../../billing/periods/limits.ts';
import { lockAccount } from '../../identity/accounts/account-store.ts';
import { recordAudit } from '../../platform/audit/audit-log.ts';
import type { Actor } from '../../platform/audit/audit-log.ts';
import type { Query, Transact } from '../../platform/database/query.ts';
import { requirePayer } from '../../self-service/locks.ts';
import { paymentMethodOf } from '../customers.ts';
import type { OffSessionProvider } from '../off-session-provider.ts';
import { requireUseForPoints } from '../purchases/begin.ts';
import { requireChargeable } from './amount.ts';
import { findSettings, listOpenPeriods, saveSettings } from './store.ts';
import type { OpenPeriod } from './store.ts';
import { offeredFor, settleOverage } from './settle.ts';

/** Further points in each period; 0 for none. `price` is what the customer was shown. */
export type OverageChoice = { cap_points: number; price: OveragePrice | null };

export type SetNeeds = {
  query: Query;
  transact: Transact;
  lockInstant: LockInstant;
  provider: Pick<OffSessionProvider, 'findPaymentMethod'>;
};

/**
 * Sets how many further points an account may use in each period. What is used by then stays charged.
 * @throws {Problem} not_found; forbidden; no_billing_period; plan_has_no_points_limit; overage_not_offered;
 * amount_changed; invalid_request for the cap; no_payment_method; payments_unavailable; total_too_large
 */
export async function setOverage(
  { query, transact, provider, lockInstant }: SetNeeds,
  accountId: number,
  choice: OverageChoice,
  by: Actor,
): Promise<void> {
  if (choice.cap_points === 0) {
    await transact(async (inside) => {
      await lockAccount(inside, accountId);
      await stopOverage(inside, lockInstant, accountId, by);
    });
    return;
  }
  const method = await paymentMethodOf(query, provider, accountId);
  await transact(async (inside) => {
    if ((await lockAccount(inside, accountId)) === undefined) throw new Problem('not_found');
    await requirePayer(inside, accountId);
    await requireUseForPoints(inside, accountId);
    const periods = await listOpenPeriods(inside, accountId);
    const price = offeredPrice(periods);
    if (price === null) throw new Problem('overage_not_offered');
    if (periods.some(({ is_unpaid }) => is_unpaid)) {
      throw new Problem('overage_not_offered', {
        detail: 'Pay the invoice for further points that is open.',
      });
    }
    const { price: shown } = choice;
    if (shown?.price_per_1000 !== price.price_per_1000 || shown.currency !== price.currency) {
      throw new Problem('amount_changed');
    }
    requireChargeable(choice.cap_points, price);
    if (method === undefined) throw new Problem('no_payment_method');
    await save(inside, accountId, { cap_points: choice.cap_points, price }, by);
    await settleOverage(inside, lockInstant, accountId);
  });
}

/** The account is locked; `query` is a transaction's. */
export async function stopOverage(
  query: Query,
  lockInstant: LockInstant,
  accountId: number,
  by: Actor,
): Promise<void> {
  if ((await findSettings(query, accountId)).cap_points === 0) return;
  await save(query, accountId, { cap_points: 0, price: null }, by);
  await settleOverage(query, lockInstant, accountId);
}

/** Of the present period, else of the next one; null if it has no further points on offer. */
export function offeredPrice([period]: readonly OpenPeriod[]): OveragePrice | null {
  return period === undefined ? null : offeredFor(period);
}

async function save(query: Query, account_id: number, choice: OverageChoice, by: Actor): Promise<void> {
  await saveSettings(query, account_id, choice);
  const details = { cap_points: choice.cap_points, ...choice.price };
  await recordAudit(query, { ...by, action: 'overage_set', application_id: null, account_id, details });
}
