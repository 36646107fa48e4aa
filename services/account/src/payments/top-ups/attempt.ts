import { lockHolder } from '../../billing/credits/store.ts';
import type { Query, Transact } from '../../platform/database/query.ts';
import { findCustomer } from '../customers.ts';
import type { OffSessionPayment, OffSessionProvider } from '../off-session-provider.ts';
import { applyPaymentOfTopUp } from './apply.ts';
import type { TopUpNeeds } from './apply.ts';
import { isWanted } from './check.ts';
import { metadataOf } from './metadata.ts';
import { findSettings, lockSettings, setConfirming, setDecided } from './store.ts';
import type { TopUp } from './store.ts';
import { tellPaused } from './tell.ts';

export type AttemptNeeds = Omit<TopUpNeeds, 'provider'> & {
  transact: Transact;
  provider: TopUpNeeds['provider'] &
    Pick<
      OffSessionProvider,
      | 'findPaymentMethod'
      | 'findPreparedPayment'
      | 'preparePayment'
      | 'confirmPayment'
      | 'readOffSessionPayment'
    >;
};

/** Stripe forgets keys of requests after a day. */
const LOOK_UP_AFTER_MS = 20 * 3_600_000;

/**
 * Takes an attempt as far as it goes: a payment that charges nothing, our row that says it may be charged, the
 * confirmation, and what became of it. A process that dies in between has it done again from there.
 * @throws {Problem} payments_unavailable, which is no decline
 */
export async function attemptTopUp(needs: AttemptNeeds, topUp: TopUp): Promise<void> {
  const payment_id = topUp.state === 'open' ? await prepare(needs, topUp) : topUp.payment_id;
  if (payment_id === null) return;
  const payment = await decide(needs, topUp.account_id, payment_id);
  const apply = await applyPaymentOfTopUp(needs, payment);
  await needs.transact(apply);
}

/** Null if it is canceled instead. */
async function prepare(needs: AttemptNeeds, topUp: TopUp): Promise<string | null> {
  const { query, provider, transact } = needs;
  const { account_id, top_up_id, top_up_key, amount, currency, pack_name } = topUp;
  const customer_id = await findCustomer(query, account_id);
  const payment_method_id =
    customer_id === undefined ? undefined : await provider.findPaymentMethod(customer_id);
  if (customer_id === undefined || payment_method_id === undefined) {
    await transact(async (inside) => {
      if (await isOverNow(inside, topUp)) return;
      await setDecided(inside, top_up_id, { state: 'canceled' });
      await tellPaused(inside, account_id, 'no_payment_method');
    });
    return null;
  }
  const wanted = { key: top_up_key, customer_id, payment_method_id };
  const isOld = Date.now() - topUp.created_at.getTime() > LOOK_UP_AFTER_MS;
  const known = isOld ? await provider.findPreparedPayment(wanted) : undefined;
  const payment_id =
    known ??
    (await provider.preparePayment({
      ...wanted,
      amount,
      currency,
      description: pack_name,
      metadata: metadataOf(topUp),
    }));
  const mayConfirm = await transact(async (inside) => {
    if (await isOverNow(inside, topUp)) return false;
    await setConfirming(inside, top_up_id, { payment_id, payment_method_id });
    return true;
  });
  if (mayConfirm) return payment_id;
  await provider.cancelPayment(payment_id);
  return null;
}

/**
 * Whether it was canceled, or isn't wanted any more, after which it is. The lock of the settings puts this before or
 * after a switch that stops top-ups.
 */
async function isOverNow(query: Query, { account_id, top_up_id }: TopUp): Promise<boolean> {
  await lockHolder(query, account_id);
  const settings = await lockSettings(query, account_id);
  const [row] = await query<{ state: string }>('SELECT state FROM top_ups WHERE top_up_id = :top_up_id', {
    top_up_id,
  });
  if (row?.state !== 'open') return true;
  if (settings !== undefined && (await isWanted(query, settings))) return false;
  await setDecided(query, top_up_id, { state: 'canceled' });
  return true;
}

/** Confirms what isn't decided, or cancels it if top-ups are off by now. */
async function decide(
  { query, provider }: AttemptNeeds,
  accountId: number,
  paymentId: string,
): Promise<OffSessionPayment> {
  const before = await provider.readOffSessionPayment(paymentId);
  if (before !== undefined && before.state !== 'unconfirmed') return before;
  const isOn = (await findSettings(query, accountId))?.is_on === true;
  return isOn ? provider.confirmPayment(paymentId) : provider.cancelPayment(paymentId);
}
