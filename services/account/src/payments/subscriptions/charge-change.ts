import { Problem } from '@tollgate/http/problem';
import type { Logger } from '@tollgate/log';
import type { AuditEntry } from '../../platform/audit/audit-log.ts';
import { recordAudit } from '../../platform/audit/audit-log.ts';
import { withinDeadline } from '../deadline.ts';
import type { Buyer } from '../purchases/begin.ts';
import type { ItemsChange, ProvidedSubscription } from '../subscription-provider.ts';
import { applyProvided } from './apply.ts';
import type { StripeSubscription } from './store.ts';

/** What a customer confirms and Stripe charges at once: an upgrade, or team slots (docs/design/payments.md). */

/** Of a subscription that Stripe charges. */
export type ChargedSubscription = StripeSubscription & { stripe_subscription_id: string };

/** `payment_required`: the change takes effect once the invoice is paid on its page. */
export type ChargeOutcome = { state: 'paid' | 'payment_required'; payment_url: string | null };

/** What is to be changed; made at Stripe where it lacks a price. */
type ChangeOf = () => Promise<ItemsChange>;

type Confirmed = {
  row: ChargedSubscription;
  change: ChangeOf;
  /** What the customer was shown, with tax, in the minor unit. */
  amount: number;
};

/**
 * Charges what was confirmed. The change takes effect once it is paid: here, or by the events, if this process ends in
 * between. Repeating it charges once.
 * @throws {Problem} subscription_changed, amount_changed, payments_unavailable
 */
export function chargeChange(
  buyer: Buyer & { logger: Pick<Logger, 'error'> },
  confirmed: Confirmed,
  entry: AuditEntry,
): Promise<ChargeOutcome> {
  return withinDeadline(charge(buyer, confirmed, entry));
}

async function charge(
  { provider, transact, logger }: Buyer & { logger: Pick<Logger, 'error'> },
  { row, change: changeOf, amount }: Confirmed,
  entry: AuditEntry,
): Promise<ChargeOutcome> {
  const change = await changeOf();
  const { stripe_subscription_id: id, revision } = row;
  const prorated = { ...change, prorated_at: startOfHour() };
  const before = await provider.readSubscription(id);
  if (before === undefined || before.isEnded) throw new Problem('subscription_changed');
  if (!isUnderWay(before, change)) {
    const { amount_due, currency } = await provider.previewChange(id, prorated);
    if (amount_due !== amount) throw new Problem('amount_changed');
    const details = { ...entry.details, amount, currency };
    await transact((query) => recordAudit(query, { ...entry, details }));
    await provider.changeNow(id, prorated, keyOf(before, revision, prorated));
  }
  const after = await provider.readSubscription(id);
  if (after === undefined) throw new Problem('payments_unavailable');
  if (after.unpaid_change !== null) {
    return { state: 'payment_required', payment_url: after.unpaid_change.payment_url };
  }
  // If this fails, the event brings it.
  await transact((query) => applyProvided(query, { logger }, after, revision)).catch(() => undefined);
  return { state: 'paid', payment_url: null };
}

/** What a change would cost now, by Stripe's own computation. @throws {Problem} payments_unavailable */
export function priceOfChange(
  { provider }: Pick<Buyer, 'provider'>,
  { stripe_subscription_id }: ChargedSubscription,
  change: ChangeOf,
): Promise<{ amount: number; currency: string }> {
  const preview = async () => {
    const prorated = { ...(await change()), prorated_at: startOfHour() };
    const { amount_due, currency } = await provider.previewChange(stripe_subscription_id, prorated);
    return { amount: amount_due, currency };
  };
  return withinDeadline(preview());
}

/** A click before has paid it, or waits for its payment. */
function isUnderWay(before: ProvidedSubscription, change: ItemsChange): boolean {
  return [before, before.unpaid_change].some(
    (items) =>
      items !== null &&
      (change.price_id === undefined || items.price_id === change.price_id) &&
      (change.slots === undefined || items.slots === (change.slots?.quantity ?? 0)),
  );
}

/**
 * The same for all clicks of an hour, until the subscription changes or something else is charged: what was charged before
 * and is no longer there can be bought again.
 */
function keyOf(
  { id, latest_invoice_id }: ProvidedSubscription,
  revision: number,
  { price_id, slots, prorated_at }: ItemsChange & { prorated_at: Date },
) {
  const items = `${price_id ?? 'same'}:${slots === undefined ? 'same' : `${slots?.price_id ?? 'no'}-${String(slots?.quantity ?? 0)}`}`;
  const since = `${String(revision)}:${latest_invoice_id ?? 'none'}`;
  return `change:${id}:${since}:${items}:${prorated_at.toISOString()}`;
}

const HOUR_MS = 3_600_000;

/** So that the amount that was shown is the one that is charged. */
function startOfHour(): Date {
  const nowMs = Date.now();
  return new Date(nowMs - (nowMs % HOUR_MS));
}
