import type { Logger } from '@tollgate/log';
import { invalidFields } from '@tollgate/http/invalid-fields';
import { Problem } from '@tollgate/http/problem';
import { lockPlanForShare } from '../../billing/plans/store.ts';
import type { Actor } from '../../platform/audit/audit-log.ts';
import type { Query } from '../../platform/database/query.ts';
import { slotTerms } from '../../self-service/slot-terms.ts';
import type { Buyer } from '../purchases/begin.ts';
import { chargeChange, priceOfChange } from '../subscriptions/charge-change.ts';
import type { ChargeOutcome, ChargedSubscription } from '../subscriptions/charge-change.ts';
import type { ItemsChange } from '../subscription-provider.ts';
import { requireChangeable } from '../subscriptions/upgrade.ts';
import type { PricedChange } from '../subscriptions/upgrade.ts';
import { slotPrices } from '../prices/store.ts';
import type { SlotPrice } from '../prices/store.ts';
import { stripeSlotPriceOf } from '../prices/stripe-price.ts';

/** `team_slots_limit` is all slots, those of the plan included. */
type WantedSlots = { account_id: number; team_slots_limit: number };

type Checked = { row: ChargedSubscription; price: SlotPrice; quantity: number; period_id: number };

/**
 * What more team slots would cost now, by Stripe's own computation.
 * @throws {Problem} as buySlots
 */
export async function previewSlots(buyer: Buyer, wanted: WantedSlots): Promise<PricedChange> {
  const checked = await buyer.transact((query) => requireBuyable(query, wanted));
  const { row, period_id } = checked;
  const priced = await priceOfChange(buyer, row, () => changeTo(buyer, checked));
  return { period_id, ...priced };
}

/**
 * Charges more team slots for the rest of the period, as the customer has confirmed.
 * @throws {Problem} not_found, forbidden, plan_not_offered, plan_change_not_immediate, subscription_changed,
 * amount_changed, payments_unavailable, invalid_request
 */
export async function buySlots(
  buyer: Buyer & { logger: Pick<Logger, 'error'> },
  wanted: WantedSlots & { period_id: number; amount: number },
  by: Actor,
): Promise<ChargeOutcome> {
  const checked = await buyer.transact((query) => requireBuyable(query, wanted));
  const { account_id, team_slots_limit, amount } = wanted;
  const details = { team_slots_limit };
  const entry = {
    ...by,
    action: 'team_slots_purchase_begun',
    application_id: null,
    account_id,
    details,
  } as const;
  const change = () => changeTo(buyer, checked);
  return chargeChange(buyer, { row: checked.row, change, amount }, entry);
}

async function changeTo({ query, provider }: Buyer, { price, quantity }: Checked): Promise<ItemsChange> {
  return { slots: { price_id: await stripeSlotPriceOf(query, provider, price), quantity } };
}

async function requireBuyable(
  query: Query,
  { account_id, team_slots_limit, period_id }: WantedSlots & { period_id?: number },
): Promise<Checked> {
  const { row, subscription, period } = await requireChangeable(query, account_id, period_id);
  const plan = await lockPlanForShare(query, subscription.plan_id);
  const { present, most } = slotTerms(subscription, period, plan);
  const price = await slotPrices.find(query, subscription);
  // Stripe charges a subscription in one currency.
  if (price?.currency !== row.currency || most === null) {
    throw new Problem('plan_not_offered', { detail: 'The plan offers no additional team slots.' });
  }
  const message =
    team_slots_limit <= present
      ? `must be more than ${String(present)}`
      : team_slots_limit > most
        ? `must be at most ${String(most)}`
        : undefined;
  if (message !== undefined) throw invalidFields([{ field: 'team_slots_limit', message }]);
  // What an operator has added is not charged.
  const quantity = row.slots + team_slots_limit - present;
  return { row, price, quantity, period_id: period.period_id };
}
