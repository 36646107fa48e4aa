import { Counter } from 'prom-client';
import type { Registry } from 'prom-client';
import { isServiceUnavailable } from '@tollgate/http/problem';
import type { Logger } from '@tollgate/log';
import type { LockInstant } from '../../billing/credits/changes.ts';
import { lockHolder } from '../../billing/credits/store.ts';
import { findAccount } from '../../identity/accounts/account-store.ts';
import type { DueWatch } from '../../platform/background/due-watch.ts';
import type { Query, Transact } from '../../platform/database/query.ts';
import { postpone } from '../../platform/outbox/leased-rows.ts';
import { startOutboxWorker } from '../../platform/outbox/outbox-worker.ts';
import { repeated } from '../../platform/outbox/repeated.ts';
import { RECHECK_MS, startAccountChecks } from '../account-checks.ts';
import { customerOf } from '../customers.ts';
import type { PaymentProvider } from '../provider.ts';
import { RETRY_WAITS } from '../retry-waits.ts';
import { chargeOverage, reportUnpaid, settleOverage } from './settle.ts';
import {
  CHARGE_DUE,
  CHECK_DUE,
  askLater,
  claimCharges,
  findLiveAtStripe,
  findTerms,
  putOffChecks,
  setCharged,
  setDeleted,
  takeCheck,
} from './store.ts';
import type { OverageCharge } from './store.ts';

const MAX_IN_FLIGHT = 4;

/** Longer than an attempt's requests with their second attempts. */
const LEASE_MS = 60_000;

const CHARGES = { table: 'overage_charges', id: 'charge_id', columns: '' };

export type OverageMetrics = { failed: Pick<Counter, 'inc'> };

export function createOverageMetrics(registry: Registry): OverageMetrics {
  return {
    failed: new Counter({
      name: 'tollgate_overage_charge_failures_total',
      help: 'Attempts to put points beyond the included ones on an invoice that failed, and are repeated',
      registers: [registry],
    }),
  };
}

type Options = {
  query: Query;
  transact: Transact;
  lockInstant: LockInstant;
  provider: Pick<
    PaymentProvider,
    | 'createCustomer'
    | 'findInvoiceItem'
    | 'findDraft'
    | 'findPaymentMethod'
    | 'addInvoiceItem'
    | 'invoicePendingItems'
  >;
  /** Whether the account's usage shows that Postgres was restored, also before that is noticed elsewhere. */
  isRestored: (accountId: number) => Promise<boolean>;
  dueWatch: DueWatch;
  logger: Pick<Logger, 'info' | 'warn' | 'error'>;
  metrics: OverageMetrics;
};

/** Keeps further points at what customers have agreed to, and charges what closed periods have used of them. */
export function startOverage(options: Options): { wake: () => void; close: () => Promise<void> } {
  const { query, transact, lockInstant, dueWatch, metrics, logger } = options;
  const charges = startOutboxWorker<OverageCharge>({
    name: 'overage',
    idOf: ({ charge_id }) => charge_id,
    claim: (limit, except) => claimCharges(query, { limit, leaseMs: LEASE_MS, except }),
    attempt: repeated({
      work: (charge) => putOnInvoice(options, charge),
      waits: RETRY_WAITS,
      postpone: ({ charge_id }, ms) => postpone(query, CHARGES, charge_id, ms),
      onFailed: () => {
        metrics.failed.inc();
      },
      message: 'overage is on no invoice yet; will retry',
      describe: ({ charge_id, account_id }, err) => ({ err, charge_id, account_id }),
      logger,
    }),
    maxInFlight: MAX_IN_FLIGHT,
    due: { dueWatch, condition: CHARGE_DUE },
    logger,
  });
  const checks = startAccountChecks({
    query,
    transact,
    take: takeCheck,
    check: async (inside, accountId) => {
      if (!(await lockHolder(inside, accountId))) return;
      await reportUnpaid(inside, accountId);
      await chargeOverage(inside, accountId);
      await settleOrPutOff(inside, { lockInstant, logger }, accountId);
    },
    putOff: putOffChecks,
    onDone: charges.wake,
    messages: {
      failed: 'further points wait for Postgres; retrying',
      recovered: 'further points are settled again',
      ofAccount: 'further points of an account could not be settled',
    },
    due: { dueWatch, condition: CHECK_DUE },
    logger,
  });
  return {
    wake: () => {
      checks.wake();
      charges.wake();
    },
    close: async () => {
      await checks.close();
      await charges.close();
    },
  };
}

/** A cap that can't be granted, as an account can't have so many points, leaves the charges as they are. */
async function settleOrPutOff(
  query: Query,
  { lockInstant, logger }: Pick<Options, 'lockInstant' | 'logger'>,
  account_id: number,
): Promise<void> {
  await query('SAVEPOINT charged');
  try {
    await settleOverage(query, lockInstant, account_id);
  } catch (error) {
    if (isServiceUnavailable(error)) throw error;
    await query('ROLLBACK TO SAVEPOINT charged');
    await askLater(query, account_id, RECHECK_MS);
    logger.error({ err: error, account_id }, 'further points of an account could not be settled');
  }
}

async function putOnInvoice(options: Options, charge: OverageCharge): Promise<void> {
  const { query, transact, isRestored } = options;
  const { charge_id, account_id } = charge;
  // What was charged since the backup is forgotten.
  if (await isRestored(account_id)) {
    throw new Error('Postgres was restored, and payments are not reconciled since then');
  }
  const made = await chargeOnce(options, charge);
  if (made === null) {
    await setDeleted(query, charge_id);
    return;
  }
  await transact(async (inside) => {
    // Either it sees that the item's invoice is void, or what voids it sees the item.
    await lockHolder(inside, account_id);
    await setCharged(inside, charge, made);
  });
}

/**
 * An item of the renewal's draft if there is one, else of the next invoice; without a subscription at Stripe, or once it
 * has ended, of an invoice of its own. Another item replaces one that a change took along which was never paid. Null if
 * the item has been deleted there. Stripe forgets keys of requests after a day, so the item is looked for before it is
 * made.
 */
async function chargeOnce({ query, provider }: Options, charge: OverageCharge) {
  const { charge_key, account_id, period_id, stripe_item_id, points, amount, created_at } = charge;
  const account = await findAccount(query, account_id);
  const terms = await findTerms(query, period_id);
  if (account === undefined || terms === undefined) throw new Error('the account or its period is unknown');
  const customer_id = await customerOf(query, provider, account);
  const { currency, started_at, ended_at } = terms;
  const subscription_id = await findLiveAtStripe(query, charge);
  const found = await provider.findInvoiceItem(customer_id, charge_key);
  if (found === undefined && stripe_item_id !== null) return null;
  const known = found?.isLost === true ? undefined : found;
  const key = found?.isLost === true ? `${charge_key}:after-${found.id}` : charge_key;
  const draft =
    known === undefined && subscription_id !== undefined
      ? await provider.findDraft(customer_id, subscription_id)
      : undefined;
  const item =
    known ??
    (await provider.addInvoiceItem({
      // For another draft it is another request, and for the same one never: the one before may still be under way.
      key: draft === undefined ? key : `${key}:${draft}`,
      customer_id,
      ...(draft !== undefined && { invoice_id: draft }),
      currency,
      amount,
      description: `${points.toLocaleString('en')} points beyond the included ones`,
      period: { start: started_at ?? created_at, end: ended_at ?? created_at },
      metadata: { tollgate_overage: charge_key, account_id: String(account_id), points: String(points) },
    }));
  const charged = { item_id: item.id, points: item.points ?? points, amount: item.amount };
  if (item.invoice_id !== null || subscription_id !== undefined) {
    return { ...charged, invoice_id: item.invoice_id };
  }
  const payment_method_id = await provider.findPaymentMethod(customer_id);
  const own = { key: charge_key, customer_id, currency, payment_method_id };
  return { ...charged, invoice_id: await provider.invoicePendingItems(own) };
}
