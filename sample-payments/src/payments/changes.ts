import { emit } from '../double.ts';
import type { Double } from '../double.ts';
import { newSubscriptionItem } from '../objects/billing.ts';
import type { Invoice, InvoiceLine, Subscription, SubscriptionItem } from '../objects/billing.ts';
import type { Price } from '../objects/catalogue.ts';
import { addInterval } from './intervals.ts';

/** Stripe discards an unpaid change after 23 hours. */
const PENDING_SEC = 23 * 3_600;

/** Without an id, another item. */
export type ItemChange = {
  id?: string | undefined;
  price?: Price | undefined;
  quantity?: number | undefined;
};

/** What a change of items leads to, and the lines of its invoice. */
type Prorated = { items: SubscriptionItem[]; lines: InvoiceLine[]; anchor: number };

/**
 * By Stripe's rule: what is left of the time that was paid is credited, and charged at the new price. Another interval
 * begins now.
 */
export function prorate(
  { store, clock }: Double,
  subscription: Subscription,
  changes: readonly ItemChange[],
  at: number,
): Prorated {
  const now = clock.now();
  const lines: InvoiceLine[] = [];
  let anchor = subscription.billing_cycle_anchor;
  const line = (item: SubscriptionItem, amount: number, period: InvoiceLine['period'], what: string) => {
    const { name } = store.get('product', item.price.product);
    const description = `${what} ${String(item.quantity)} × ${name}`;
    const { metadata, id } = subscription;
    lines.push({ amount, description, period, metadata, price: item.price, subscription: id });
  };
  const share = ({ current_period_start: start, current_period_end: end }: SubscriptionItem) =>
    (end - Math.max(at, start)) / (end - start);
  const costOf = ({ price, quantity }: SubscriptionItem) => price.unit_amount * quantity;
  const replaced = changes.map((change) => {
    const before = subscription.items.data.find(({ id }) => id === change.id);
    const after = changedItem(subscription, before, change, now);
    const isNewInterval = before !== undefined && intervalOf(before) !== intervalOf(after);
    const rest = { start: at, end: after.current_period_end };
    if (before !== undefined)
      line(before, -Math.round(costOf(before) * share(before)), rest, 'Unused time on');
    if (isNewInterval) {
      anchor = now;
      after.current_period_start = now;
      after.current_period_end = addInterval(now, intervalOf(after), now);
      line(after, costOf(after), { start: now, end: after.current_period_end }, 'A period of');
    } else {
      line(after, Math.round(costOf(after) * share(after)), rest, 'Remaining time on');
    }
    return after;
  });
  const kept = subscription.items.data.filter(({ id }) => replaced.every((each) => each.id !== id));
  return { items: [...kept, ...replaced], lines, anchor };
}

function changedItem(
  { id: subscription, items }: Subscription,
  before: SubscriptionItem | undefined,
  { price, quantity }: ItemChange,
  created: number,
): SubscriptionItem {
  if (before !== undefined) {
    return { ...before, price: price ?? before.price, quantity: quantity ?? before.quantity };
  }
  const [first] = items.data;
  if (first === undefined || price === undefined) throw new Error('an item without a price');
  const period = { start: first.current_period_start, end: first.current_period_end };
  return newSubscriptionItem({ created, price, quantity: quantity ?? 1, period, subscription });
}

export function applyItems(
  double: Double,
  subscription: Subscription,
  { items, anchor }: Pick<Prorated, 'items' | 'anchor'>,
): void {
  const previous = { items: { ...subscription.items, data: subscription.items.data } };
  // An item of which there are none left is gone.
  subscription.items.data = items.filter(({ quantity }) => quantity > 0);
  subscription.billing_cycle_anchor = anchor;
  subscription.pending_update = null;
  emit(double, 'customer.subscription.updated', subscription, previous);
}

export function deferItems(
  { clock }: Double,
  subscription: Subscription,
  { items, anchor }: Pick<Prorated, 'items' | 'anchor'>,
): void {
  subscription.pending_update = {
    billing_cycle_anchor: anchor,
    expires_at: clock.now() + PENDING_SEC,
    subscription_items: items,
    trial_end: null,
    trial_from_plan: null,
  };
}

/** What waited for the payment of an invoice. */
export function applyPendingUpdate(double: Double, subscription: Subscription, invoice: Invoice): void {
  const pending = subscription.pending_update;
  if (pending === null || subscription.latest_invoice !== invoice.id) return;
  const anchor = pending.billing_cycle_anchor ?? subscription.billing_cycle_anchor;
  applyItems(double, subscription, { items: pending.subscription_items, anchor });
}

function intervalOf({ price }: SubscriptionItem) {
  return price.recurring?.interval ?? 'month';
}
