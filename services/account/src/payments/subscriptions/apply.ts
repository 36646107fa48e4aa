import type { Logger } from '@tollgate/log';
import { Problem } from '@tollgate/http/problem';
import type { ErrorCode } from '@tollgate/contracts/error-codes';
import { lockHolder } from '../../billing/credits/store.ts';
import {
  cancelSubscription,
  endSubscription,
  isCancellationDue,
  resumeSubscription,
} from '../../billing/subscriptions/changes.ts';
import { lockSubscription } from '../../billing/subscriptions/store.ts';
import type { Subscription } from '../../billing/subscriptions/store.ts';
import { databaseNow } from '../../platform/database/clock.ts';
import type { Query } from '../../platform/database/query.ts';
import { PAYMENTS_ACTOR } from '../actor.ts';
import type { Applied, Apply } from '../applied.ts';
import { reportIssue } from '../issues/store.ts';
import type { Checkout, PaymentProvider } from '../provider.ts';
import type { ProvidedSubscription } from '../subscription-provider.ts';
import { readMetadata } from './metadata.ts';
import { followSlots } from './follow-slots.ts';
import { followPeriods } from './follow-periods.ts';
import { followPrice } from './follow-price.ts';
import { startPaid } from './start.ts';
import {
  findByKey,
  findByStripeId,
  insertCheckout,
  setKnownPrice,
  setPageState,
  setRefused,
  setStarted,
  setStripeId,
} from './store.ts';
import type { CheckoutState, StripeSubscription } from './store.ts';

/** What has changed here since the page was opened, so that what was paid can't start. */
const REFUSALS = new Set<ErrorCode>([
  'subscription_exists',
  'periods_overlap',
  'account_blocked',
  'invalid_request',
]);

type Needs = {
  query: Query;
  provider: Pick<PaymentProvider, 'readSubscription'>;
  logger: Pick<Logger, 'error'>;
};

/** Undefined if the provider doesn't know it (yet). */
export async function applySubscription(needs: Needs, id: string): Promise<Apply | undefined> {
  const revision = (await findByStripeId(needs.query, id))?.revision ?? 0;
  const provided = await needs.provider.readSubscription(id);
  return provided === undefined ? undefined : (query) => applyProvided(query, needs, provided, revision);
}

/** Without a subscription, nothing was paid on the page. */
export async function applySubscriptionPage(
  needs: Needs,
  { subscription_id, metadata, state }: Checkout,
): Promise<Apply | undefined> {
  if (subscription_id !== undefined) return applySubscription(needs, subscription_id);
  return async (query) => {
    const ours = readMetadata(metadata);
    const row = ours === undefined ? undefined : await findByKey(query, ours.checkout_key);
    if (row === undefined) return { outcome: 'ignored', change: null };
    if (state !== 'expired' || row.state !== 'open') return { outcome: 'applied', change: null };
    await setPageState(query, row.checkout_id, 'expired');
    return { outcome: 'applied', change: `checkout ${String(row.checkout_id)}: open to expired` };
  };
}

/**
 * Brings a subscription to what Stripe says of it now. `query` is a transaction's; the account is locked first.
 * `revision`: that of our row before Stripe was asked. `ignored` if it isn't ours.
 * @throws if it was changed here since then, since what Stripe said may be older
 */
export async function applyProvided(
  query: Query,
  { logger }: Pick<Needs, 'logger'>,
  provided: ProvidedSubscription,
  revision: number,
): Promise<Applied> {
  const ours = readMetadata(provided.metadata);
  const account_id = (await findRow(query, provided, ours))?.account_id ?? ours?.sold.account_id;
  if (account_id === undefined) return { outcome: 'ignored', change: null };
  const mayHold = await lockHolder(query, account_id);
  const row = await findOrRestore(query, provided, ours);
  if (row === undefined) return { outcome: 'ignored', change: null };
  // A declined attempt on the page may leave a subscription of its own.
  const isDecided = row.state === 'started' || row.state === 'refused';
  if (isDecided && row.stripe_subscription_id !== provided.id) return { outcome: 'ignored', change: null };
  await setStripeId(query, row.checkout_id, provided.id);
  if (row.state === 'refused') return { outcome: 'applied', change: null };
  if (row.subscription_id !== null) {
    const subscription = await lockSubscription(query, row.subscription_id);
    const present = await findByStripeId(query, provided.id);
    if (present?.revision !== revision || present.next_attempt_at !== null) {
      throw new Error(`the subscription ${provided.id} was changed meanwhile`);
    }
    const changes = [
      await followPrice(query, present, subscription, provided),
      await followSlots(query, present, await lockSubscription(query, row.subscription_id), provided),
      await followPeriods(query, present, await lockSubscription(query, row.subscription_id), provided),
      await follow(query, await lockSubscription(query, row.subscription_id), provided),
    ].filter((change) => change !== null);
    return { outcome: 'applied', change: changes.length === 0 ? null : changes.join('; ') };
  }
  const state = await settlePage(query, { logger, mayHold }, row, provided);
  const change = state === row.state ? null : `checkout ${String(row.checkout_id)}: ${row.state} to ${state}`;
  return { outcome: 'applied', change };
}

/** A database that was restored to before the checkout has forgotten it. */
async function findOrRestore(
  query: Query,
  provided: ProvidedSubscription,
  ours: ReturnType<typeof readMetadata>,
): Promise<StripeSubscription | undefined> {
  const found = await findRow(query, provided, ours);
  if (found !== undefined || ours === undefined) return found;
  return insertCheckout(query, { ...ours.sold, checkout_key: ours.checkout_key });
}

/** The state that the checkout has then. */
async function settlePage(
  query: Query,
  needs: { logger: Pick<Logger, 'error'>; mayHold: boolean },
  row: StripeSubscription,
  provided: ProvidedSubscription,
): Promise<CheckoutState> {
  if (!provided.isEnded && provided.isPaid) return startOrRefuse(query, needs, row, provided);
  const state = provided.isEnded ? 'expired' : 'processing';
  await setPageState(query, row.checkout_id, state);
  return state;
}

async function findRow(
  query: Query,
  { id }: ProvidedSubscription,
  ours: ReturnType<typeof readMetadata>,
): Promise<StripeSubscription | undefined> {
  return (
    (await findByStripeId(query, id)) ??
    (ours === undefined ? undefined : await findByKey(query, ours.checkout_key))
  );
}

/** The deletion ended what the account had, and nothing would end this. @throws {Problem} account_blocked */
async function requireNotLeaving(query: Query, accountId: number): Promise<void> {
  const leaving = await query(
    'SELECT 1 FROM accounts WHERE account_id = :accountId AND deletion_due_at IS NOT NULL',
    { accountId },
  );
  if (leaving.length > 0) throw new Problem('account_blocked', { detail: 'The account is being deleted.' });
}

/** What can't start is cancelled and refunded at Stripe by the outbox, and an operator sees it. */
async function startOrRefuse(
  query: Query,
  { logger, mayHold }: { logger: Pick<Logger, 'error'>; mayHold: boolean },
  row: StripeSubscription,
  { id, anchor, price_id }: ProvidedSubscription,
): Promise<'started' | 'refused'> {
  await query('SAVEPOINT started');
  try {
    if (!mayHold) throw new Problem('account_blocked', { detail: 'The account is erased.' });
    await requireNotLeaving(query, row.account_id);
    const { subscription_id } = await startPaid(query, row, anchor);
    await setStarted(query, row.checkout_id, subscription_id);
    if (price_id !== undefined) await setKnownPrice(query, row.checkout_id, price_id);
    return 'started';
  } catch (error) {
    if (!(error instanceof Problem) || !REFUSALS.has(error.code)) throw error;
    await query('ROLLBACK TO SAVEPOINT started');
    await setRefused(query, row.checkout_id);
    const { account_id, checkout_id } = row;
    const details = { checkout_id, reason: error.code };
    await reportIssue(query, { kind: 'subscription_not_started', object_id: id, account_id, details });
    const about = { err: error, account_id, checkout_id, stripe_subscription_id: id };
    logger.error(about, 'paid subscription not started; it is cancelled and refunded');
    return 'refused';
  }
}

/** Takes over what was changed at Stripe: its end, and a cancellation at the period's end or its undoing. */
async function follow(
  query: Query,
  subscription: Subscription,
  provided: ProvidedSubscription,
): Promise<string | null> {
  if (subscription.ended_at !== null) return null;
  const now = await databaseNow(query);
  const { subscription_id: subscriptionId, cancel_at_period_end, renews_at } = subscription;
  const isDue = isCancellationDue(subscription, now);
  const changed = (what: string) => `subscription ${String(subscriptionId)}: ${what}`;
  if (provided.isEnded) {
    const isAtEnd = cancel_at_period_end && (provided.ended_at ?? now) >= renews_at;
    if (isAtEnd || isDue) await endSubscription(query, subscription, PAYMENTS_ACTOR);
    else await cancelSubscription(query, subscriptionId, 'now', PAYMENTS_ACTOR);
    return changed('ended');
  }
  if (provided.cancel_at_period_end === cancel_at_period_end || isDue) return null;
  if (cancel_at_period_end) {
    await resumeSubscription(query, subscriptionId, PAYMENTS_ACTOR);
    return changed('resumed');
  }
  await cancelSubscription(query, subscriptionId, 'period_end', PAYMENTS_ACTOR);
  return changed('cancelled at the end of the period');
}
