import type { Knex } from 'knex';
import Stripe from 'stripe';
import { idOf } from '../../src/payments/stripe/values.ts';

/** Of test clocks, and in the metadata of customers. */
export const PROFILE = 'tollgate-profile';

/** Longer than a run takes: another one may be under way in the same account. */
const PAST_SEC = 4 * 3_600;

/** For how long Stripe keeps what a run that was killed has left. */
const KEPT_SEC = 30 * 86_400;

/** What runs before have left because they were killed. */
export async function deletePast(stripe: Stripe): Promise<void> {
  const nowSec = Math.floor(Date.now() / 1_000);
  for await (const { id, name, created } of stripe.testHelpers.testClocks.list({ limit: 100 })) {
    if (name === PROFILE && created < nowSec - PAST_SEC) await stripe.testHelpers.testClocks.del(id);
  }
  const created = { gte: nowSec - KEPT_SEC, lt: nowSec - PAST_SEC };
  for await (const { id, metadata } of stripe.customers.list({ created, limit: 100 })) {
    if (metadata['made_by'] === PROFILE) await stripe.customers.del(id);
  }
}

/**
 * Deletes test clocks and customers with their subscriptions. Prices and products that were used can't be deleted, so they
 * are archived. The portal's configuration stays, which every run finds.
 */
export async function leaveNothing(
  stripe: Stripe,
  database: Knex,
  { clocks, customers }: { clocks: ReadonlySet<string>; customers: ReadonlySet<string> },
): Promise<void> {
  for (const id of clocks) await stripe.testHelpers.testClocks.del(id).catch(unlessMissing);
  const present = await database('stripe_customers').pluck<string[]>('customer_id');
  for (const id of new Set([...present, ...customers])) {
    // Those of a test clock are deleted with it.
    await stripe.customers.del(id).catch(unlessMissing);
  }
  for (const id of await pricesOf(database)) {
    const { product } = await stripe.prices.update(id, { active: false });
    await stripe.products.update(idOf(product) ?? '', { active: false });
  }
}

/** Of plans and packs. */
export async function pricesOf(database: Knex): Promise<string[]> {
  const tables = ['plan_prices', 'packs'].map((table) =>
    database(table).whereNotNull('stripe_price_id').pluck<string[]>('stripe_price_id'),
  );
  return (await Promise.all(tables)).flat();
}

/** Stripe may answer for a deleted customer that it is deleted, or that there is none. */
export async function isLeft(asked: Promise<Stripe.Customer | Stripe.DeletedCustomer>): Promise<boolean> {
  const found = await asked.catch(unlessMissing);
  return found !== undefined && found.deleted !== true;
}

function unlessMissing(error: unknown): undefined {
  if (!(error instanceof Stripe.errors.StripeInvalidRequestError)) throw error;
  if (error.code !== 'resource_missing') throw error;
}
