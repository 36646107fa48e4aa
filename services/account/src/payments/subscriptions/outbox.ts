import type { Logger } from '@tollgate/log';
import { findPlan } from '../../billing/plans/store.ts';
import type { DueWatch } from '../../platform/background/due-watch.ts';
import type { Query } from '../../platform/database/query.ts';
import { msFromNow } from '../../platform/outbox/leased-rows.ts';
import { startOutboxWorker } from '../../platform/outbox/outbox-worker.ts';
import { repeated } from '../../platform/outbox/repeated.ts';
import { stripePriceOf, stripeSlotPriceOf } from '../prices/stripe-price.ts';
import { findPlannedPrice, findPriceByStripeId, planPrices, slotPrices } from '../prices/store.ts';
import { reportIssue } from '../issues/store.ts';
import type { PaymentProvider } from '../provider.ts';
import { RETRY_WAITS } from '../retry-waits.ts';
import type { ItemsChange, ProvidedSubscription } from '../subscription-provider.ts';
import { slotsUnder } from './slots-under.ts';
import { setKnownPrice, setKnownSlots } from './store.ts';

type ChangedSubscription = {
  checkout_id: number;
  account_id: number;
  state: 'started' | 'refused';
  stripe_subscription_id: string;
  revision: number;
  attempts: number;
};

const MAX_IN_FLIGHT = 4;

/** Longer than a few requests to the provider. */
const LEASE_MS = 60_000;

type Options = {
  query: Query;
  provider: PaymentProvider;
  dueWatch: DueWatch;
  logger: Pick<Logger, 'info' | 'warn' | 'error'>;
};

/** Tells Stripe what was changed here: by the customer, an operator, a renewal or the deletion of the account. */
export function startSubscriptionOutbox(options: Options): { wake: () => void; close: () => Promise<void> } {
  const { query, dueWatch, logger } = options;
  return startOutboxWorker<ChangedSubscription>({
    name: 'subscription changes',
    idOf: ({ checkout_id }) => checkout_id,
    claim: (limit, except) => claim(query, limit, except),
    attempt: repeated({
      work: (changed) => tellChange(options, changed),
      waits: RETRY_WAITS,
      postpone: (changed, ms) => postpone(query, changed, ms),
      message: 'Stripe does not know of a change yet; will retry',
      describe: ({ checkout_id, account_id, stripe_subscription_id }, err) => ({
        err,
        checkout_id,
        account_id,
        stripe_subscription_id,
      }),
      logger,
    }),
    maxInFlight: MAX_IN_FLIGHT,
    due: {
      dueWatch,
      condition: 'EXISTS (SELECT FROM stripe_subscriptions WHERE next_attempt_at IS NOT NULL)',
    },
    logger,
  });
}

/** Leases due rows. */
function claim(query: Query, limit: number, except: readonly number[]): Promise<ChangedSubscription[]> {
  return query<ChangedSubscription>(
    `UPDATE stripe_subscriptions SET next_attempt_at = ${msFromNow('leaseMs')}
     WHERE checkout_id IN (
       SELECT checkout_id FROM stripe_subscriptions
       WHERE next_attempt_at <= clock_timestamp() AND stripe_subscription_id IS NOT NULL
         AND checkout_id <> ALL (CAST(:except AS bigint[]))
       ORDER BY next_attempt_at LIMIT :limit FOR UPDATE SKIP LOCKED)
     RETURNING checkout_id, account_id, state, stripe_subscription_id, revision, attempts`,
    { limit, except, leaseMs: LEASE_MS },
  );
}

async function tellChange(options: Options, changed: ChangedSubscription): Promise<void> {
  const { checkout_id, stripe_subscription_id, revision } = changed;
  if (changed.state === 'refused') await undo(options.provider, stripe_subscription_id);
  else await tell(options, changed);
  // A change that came meanwhile has another revision, and is due.
  await options.query(
    `UPDATE stripe_subscriptions
     SET next_attempt_at = NULL, attempts = 0, plan_changed = false, end_changed = false,
       slots_changed = false
     WHERE checkout_id = :checkout_id AND revision = :revision`,
    { checkout_id, revision },
  );
}

async function postpone(
  query: Query,
  { checkout_id, revision }: ChangedSubscription,
  ms: number,
): Promise<void> {
  await query(
    `UPDATE stripe_subscriptions SET attempts = attempts + 1, next_attempt_at = ${msFromNow('ms')}
     WHERE checkout_id = :checkout_id AND revision = :revision`,
    { checkout_id, revision, ms },
  );
}

/** Ends and refunds what was paid and couldn't start. */
async function undo(provider: PaymentProvider, id: string): Promise<void> {
  await provider.endSubscription(id);
  for (const payment of await provider.listPayments(id)) await provider.refund(payment);
}

type Ours = {
  plan_id: number;
  billing_interval: 'month' | 'year';
  team_slots_limit: number | null;
  anchor: Date;
  cancel_at_period_end: boolean;
  ended_at: Date | null;
  plan_changed: boolean;
  end_changed: boolean;
  slots_changed: boolean;
  pending_slots: number | null;
  currency: string;
};

/** Tells Stripe what was changed here; what is the same already isn't sent. */
async function tell({ query, provider, logger }: Options, changed: ChangedSubscription): Promise<void> {
  const { checkout_id, account_id, stripe_subscription_id: id, revision } = changed;
  const [ours] = await query<Ours>(
    `SELECT subscriptions.plan_id, subscriptions.billing_interval, anchor, team_slots_limit, cancel_at_period_end,
       ended_at, plan_changed, end_changed, slots_changed, pending_slots, currency
     FROM stripe_subscriptions JOIN subscriptions USING (subscription_id) WHERE checkout_id = :checkout_id`,
    { checkout_id },
  );
  if (ours === undefined) return;
  if (ours.ended_at !== null) return provider.endSubscription(id);
  const theirs = await provider.readSubscription(id);
  if (theirs === undefined || theirs.isEnded) return;
  const { plan_id, billing_interval, cancel_at_period_end } = ours;
  if (ours.end_changed && theirs.cancel_at_period_end !== cancel_at_period_end) {
    const key = `${id}:${String(revision)}:cancel-${String(cancel_at_period_end)}`;
    await provider.changeSubscription(id, { cancel_at_period_end }, key);
  }
  const price_id = ours.plan_changed
    ? await changedPrice({ query, provider }, checkout_id, ours, theirs)
    : undefined;
  if (price_id === null) {
    const about = { account_id, stripe_subscription_id: id, plan_id, billing_interval };
    logger.error(about, 'the plan has no price; Stripe goes on charging the one before');
  }
  const isOtherPlan = typeof price_id === 'string';
  const isOtherInterval = isOtherPlan && (await intervalOf(query, theirs)) !== billing_interval;
  if (isOtherInterval && theirs.period_started_at >= ours.anchor) {
    const details = { stripe_subscription_id: id, plan_id, billing_interval, price_id };
    await reportIssue(query, { kind: 'interval_changed_late', object_id: id, account_id, details });
    logger.error({ account_id, ...details }, 'Stripe has renewed a subscription for the interval before');
    return;
  }
  const slots = await changedSlots({ query, provider }, ours, { charged: theirs.slots, isOtherPlan });
  // An attempt before may have made the release without hearing so.
  if (ours.slots_changed && slots === undefined) await setKnownSlots(query, checkout_id, theirs.slots);
  if (!isOtherPlan && slots === undefined) return;
  const isReleased = ours.slots_changed && slots !== undefined;
  if (await isRenewedBefore(query, { checkout_id, isReleased }, theirs)) {
    const { period_started_at } = theirs;
    const details = { stripe_subscription_id: id, plan_id, billing_interval, period_started_at };
    await reportIssue(query, { kind: 'plan_changed_late', object_id: id, account_id, details });
    logger.error({ account_id, ...details }, 'Stripe has renewed a subscription as it was before a change');
  }
  const begins_at = isOtherInterval && ours.anchor > new Date() ? ours.anchor : undefined;
  const isNewPeriod = isOtherInterval && begins_at === undefined;
  const change = {
    ...(isOtherPlan && { price_id }),
    ...(slots !== undefined && { slots }),
    begins_at,
    isNewPeriod,
  };
  const items = `${price_id ?? 'same'}:${slots === undefined ? 'same' : String(slots?.quantity ?? 0)}`;
  await provider.changeSubscription(id, change, `${id}:${String(revision)}:${items}`);
  if (isOtherPlan) await setKnownPrice(query, checkout_id, price_id);
  if (slots !== undefined) await setKnownSlots(query, checkout_id, slots?.quantity ?? 0);
}

/**
 * Whether Stripe has renewed, as it was before, for a period that began with another plan or fewer slots. What was changed
 * within a period is charged from the next one on.
 */
async function isRenewedBefore(
  query: Query,
  renewal: { checkout_id: number; isReleased: boolean },
  { period_started_at }: ProvidedSubscription,
): Promise<boolean> {
  const rows = await query(
    `SELECT FROM stripe_subscriptions JOIN subscriptions USING (subscription_id)
     JOIN billing_periods AS period USING (subscription_id)
     WHERE checkout_id = :checkout_id AND period.started_at = :period_started_at
       AND (CAST(:isReleased AS boolean) OR period.plan_id = subscriptions.plan_id
         AND NOT EXISTS (SELECT FROM period_plans WHERE period_plans.period_id = period.period_id)
         AND period.plan_id <> (
           SELECT plan_id FROM billing_periods AS before
           WHERE before.subscription_id = period.subscription_id AND before.started_at < period.started_at
           ORDER BY started_at DESC LIMIT 1))`,
    { ...renewal, period_started_at },
  );
  return rows.length > 0;
}

/** What Stripe charges for now; undefined if its price is none of ours. */
async function intervalOf(query: Query, { price_id }: ProvidedSubscription): Promise<string | undefined> {
  return price_id === undefined ? undefined : (await findPriceByStripeId(query, price_id))?.billing_interval;
}

/** Undefined if Stripe charges the plan already. Null if it has no price. */
async function changedPrice(
  { query, provider }: Pick<Options, 'query' | 'provider'>,
  checkoutId: number,
  ours: Ours,
  theirs: ProvidedSubscription,
): Promise<string | null | undefined> {
  const { plan_id, billing_interval } = ours;
  const paid = theirs.price_id === undefined ? undefined : await findPriceByStripeId(query, theirs.price_id);
  if (paid?.plan_id === plan_id && paid.billing_interval === billing_interval) return undefined;
  const price = (await findPlannedPrice(query, checkoutId, ours)) ?? (await planPrices.findLast(query, ours));
  return price === undefined ? null : stripePriceOf(query, provider, price);
}

/**
 * Undefined if they stay. Null for none: released, included in the plan, or not sold with it, so that they aren't
 * charged any more.
 */
async function changedSlots(
  { query, provider }: Pick<Options, 'query' | 'provider'>,
  ours: Ours,
  { charged, isOtherPlan }: { charged: number; isOtherPlan: boolean },
): Promise<ItemsChange['slots']> {
  if (charged === 0 || !(isOtherPlan || ours.slots_changed)) return undefined;
  const left = ours.slots_changed ? Math.min(charged, ours.pending_slots ?? charged) : charged;
  const plan = await findPlan(query, ours.plan_id);
  const quantity = plan === undefined ? 0 : slotsUnder(plan, ours.team_slots_limit, left);
  if (quantity === 0) return null;
  if (!isOtherPlan) return quantity === charged ? undefined : { quantity };
  const price = await slotPrices.findLast(query, ours);
  if (price?.currency !== ours.currency) return null;
  return { quantity, price_id: await stripeSlotPriceOf(query, provider, price) };
}
