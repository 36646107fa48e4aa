import type { Query, Transact } from '../../platform/database/query.ts';
import { isPeriodStart } from '../../billing/periods/calendar.ts';
import type { Applied, Apply } from '../applied.ts';
import { HANDLERS } from '../events/handlers.ts';
import type { HandlerNeeds } from '../events/handlers.ts';
import type { PaymentProvider } from '../provider.ts';
import { listUnsettled } from '../invoices/store.ts';
import { listUndecided } from '../purchases/store.ts';
import { listPendingPayments } from '../reversals/store.ts';
import type { ProvidedSubscription } from '../subscription-provider.ts';
import { readMetadata } from '../subscriptions/metadata.ts';
import { listKnownSubscriptions } from '../subscriptions/store.ts';
import type { KnownSubscription } from '../subscriptions/store.ts';
import { listUndecidedTopUps } from '../top-ups/store.ts';

export type ReconcileNeeds = Omit<HandlerNeeds, 'provider' | 'logger'> & {
  transact: Transact;
  provider: HandlerNeeds['provider'] &
    Pick<
      PaymentProvider,
      'listCheckouts' | 'listReversedPayments' | 'listInvoices' | 'listTopUps' | 'listSubscriptions'
    >;
  logger: HandlerNeeds['logger'];
};

type Difference = { object_id: string; change: string };

export type Reconciliation = {
  since: Date;
  started_at: Date;
  /** Objects that were read at the provider. */
  checked: number;
  differences: Difference[];
  /** Objects that could not be read or applied. */
  failed: number;
  /** False if the provider couldn't be read to the end. */
  isComplete: boolean;
};

/** What is read by the handler of which event. */
type Named = { type: keyof typeof HANDLERS; object_id: string };

/**
 * Reads again what was made at the provider since then, and what isn't decided here, by the handlers of events: for events
 * that never came. `isDryRun` changes nothing, here or there.
 * @throws {Problem} payments_unavailable, if nothing could be read
 */
export async function reconcile(
  needs: ReconcileNeeds,
  { since, isDryRun, signal }: { since: Date; isDryRun: boolean; signal?: AbortSignal },
): Promise<Reconciliation> {
  const run: Reconciliation = {
    since,
    started_at: new Date(),
    checked: 0,
    differences: [],
    failed: 0,
    isComplete: true,
  };
  const seen = new Set<string>();
  try {
    for await (const named of changedSince(needs, since)) {
      if (signal?.aborted === true) break;
      if (seen.has(named.object_id)) continue;
      seen.add(named.object_id);
      await reconcileOne(needs, named, isDryRun, run);
    }
  } catch (error) {
    if (run.checked === 0) throw error;
    run.isComplete = false;
    needs.logger.warn({ err: error, checked: run.checked }, 'reconciling broke off');
  }
  return run;
}

async function reconcileOne(
  needs: ReconcileNeeds,
  named: Named,
  isDryRun: boolean,
  run: Reconciliation,
): Promise<void> {
  const { object_id } = named;
  run.checked += 1;
  try {
    const change = await changeOf(needs, named, isDryRun);
    if (change !== null) run.differences.push({ object_id, change });
  } catch (error) {
    run.failed += 1;
    needs.logger.warn({ err: error, object_id }, 'payment not reconciled');
  }
}

/** Pages before payments: a refund is of a purchase that is paid. */
async function* changedSince({ query, provider }: ReconcileNeeds, since: Date): AsyncGenerator<Named> {
  for (const object_id of await listUndecided(query)) yield { type: 'checkout.session.completed', object_id };
  for await (const object_id of provider.listCheckouts(since)) {
    yield { type: 'checkout.session.completed', object_id };
  }
  for (const object_id of await listUndecidedTopUps(query))
    yield { type: 'payment_intent.succeeded', object_id };
  for await (const object_id of provider.listTopUps(since)) {
    yield { type: 'payment_intent.succeeded', object_id };
  }
  for (const object_id of await listPendingPayments(query)) yield { type: 'charge.refunded', object_id };
  for await (const object_id of provider.listReversedPayments(since)) {
    yield { type: 'charge.refunded', object_id };
  }
  for await (const object_id of changedSubscriptions(query, provider)) {
    yield { type: 'customer.subscription.updated', object_id };
  }
  // An invoice is made at the border of two periods, and paid an hour or days later.
  for (const object_id of await listUnsettled(query)) yield { type: 'invoice.updated', object_id };
  for await (const object_id of provider.listInvoices(since)) yield { type: 'invoice.updated', object_id };
}

/**
 * Stripe doesn't say when a subscription was changed, so all are compared. One that isn't listed has ended, and one that
 * the database has forgotten is ours by its metadata.
 */
async function* changedSubscriptions(
  query: Query,
  provider: Pick<PaymentProvider, 'listSubscriptions'>,
): AsyncGenerator<string> {
  const known = new Map(
    (await listKnownSubscriptions(query)).map((one) => [one.stripe_subscription_id, one]),
  );
  for await (const provided of provider.listSubscriptions()) {
    const ours = known.get(provided.id);
    known.delete(provided.id);
    const isChanged =
      ours === undefined ? readMetadata(provided.metadata) !== undefined : differs(ours, provided);
    if (isChanged) yield provided.id;
  }
  for (const { stripe_subscription_id, next_attempt_at } of known.values()) {
    if (next_attempt_at === null) yield stripe_subscription_id;
  }
}

/** What was changed here, and is on its way to Stripe, is none. */
function differs(ours: KnownSubscription, theirs: ProvidedSubscription): boolean {
  return (
    ours.next_attempt_at === null &&
    (theirs.isEnded ||
      theirs.price_id !== ours.stripe_price_id ||
      theirs.slots !== ours.slots ||
      theirs.cancel_at_period_end !== ours.cancel_at_period_end ||
      !isPeriodStart(ours, theirs.period_ends_at))
  );
}

/** Of what a dry run doesn't do, nothing is logged as done. */
const SILENT = { info: () => undefined, warn: () => undefined, error: () => undefined };

async function changeOf(
  needs: ReconcileNeeds,
  { type, object_id }: Named,
  isDryRun: boolean,
): Promise<string | null> {
  const provider = isDryRun ? unchanging(needs.provider) : needs.provider;
  const logger = isDryRun ? SILENT : needs.logger;
  const apply = await HANDLERS[type]?.({ ...needs, provider, logger }, object_id);
  if (apply === undefined) return null;
  const { change } = isDryRun ? await tried(needs.transact, apply) : await needs.transact(apply);
  return change;
}

/** Asks only. */
function unchanging(provider: ReconcileNeeds['provider']): ReconcileNeeds['provider'] {
  return {
    ...provider,
    refund: () => Promise.resolve(),
    cancelPayment: async (id) => {
      const read = await provider.readOffSessionPayment(id);
      if (read === undefined) throw new Error(`the payment ${id} is not known yet`);
      return { ...read, state: 'canceled' };
    },
  };
}

/** What it would do. */
async function tried(transact: Transact, apply: Apply): Promise<Applied> {
  let applied: Applied | undefined;
  const rolledBack = new Error('a dry run changes nothing');
  const work = async (query: Query) => {
    applied = await apply(query);
    throw rolledBack;
  };
  try {
    await transact(work);
  } catch (error) {
    if (applied === undefined) throw error;
  }
  if (applied === undefined) throw rolledBack;
  return applied;
}
