import type { Logger } from '@tollgate/log';
import { lockHolder } from '../../billing/credits/store.ts';
import type { LockInstant } from '../../billing/credits/changes.ts';
import type { Query } from '../../platform/database/query.ts';
import type { Applied, Apply } from '../applied.ts';
import { reportIssue } from '../issues/store.ts';
import type { OffSessionPayment, OffSessionProvider } from '../off-session-provider.ts';
import type { PaymentProvider } from '../provider.ts';
import { isLatePayment, settlePaid } from '../purchases/apply.ts';
import { insertPurchase } from '../purchases/store.ts';
import { readTopUpMetadata } from './metadata.ts';
import { insertPaid, lockByKey, lockSettings, setDecided, setProcessing } from './store.ts';
import type { NewTopUp, TopUp } from './store.ts';
import { tellDeclined } from './tell.ts';

export type TopUpNeeds = {
  query: Query;
  provider: Pick<PaymentProvider, 'refund'> & Pick<OffSessionProvider, 'cancelPayment'>;
  lockInstant: LockInstant;
  logger: Pick<Logger, 'warn' | 'error'>;
};

const NOTHING: Applied = { outcome: 'ignored', change: null };

/** Brings an attempt to what the provider says of its payment now. One that was declined can't be paid later. */
export async function applyPaymentOfTopUp(needs: TopUpNeeds, read: OffSessionPayment): Promise<Apply> {
  const ours = readTopUpMetadata(read.metadata);
  if (ours === undefined) return () => Promise.resolve(NOTHING);
  const payment =
    read.state === 'declined'
      ? { ...(await needs.provider.cancelPayment(read.payment_id)), decline_code: read.decline_code }
      : read;
  const { top_up_key, ...sold } = ours;
  const isLate =
    payment.state === 'paid' && (await isLatePayment(needs, sold.account_id, payment.payment_id));
  if (isLate) await needs.provider.refund(payment.payment_id);
  return (query) => applyOurs(query, needs, { top_up_key, sold, payment, isLate });
}

type Read = { top_up_key: string; sold: NewTopUp; payment: OffSessionPayment; isLate: boolean };

async function applyOurs(
  query: Query,
  needs: TopUpNeeds,
  { top_up_key, sold, payment, isLate }: Read,
): Promise<Applied> {
  const mayHold = await lockHolder(query, sold.account_id);
  const topUp = await lockByKey(query, top_up_key);
  if (payment.state === 'paid') {
    if (topUp?.state === 'paid') return { outcome: 'applied', change: null };
    return applyPaid(query, needs, { top_up_key, sold, payment, isLate, topUp, mayHold });
  }
  if (topUp === undefined) return NOTHING;
  const { top_up_id, state } = topUp;
  if (state === 'paid' || state === 'declined' || state === 'canceled' || payment.state === 'unconfirmed') {
    return { outcome: 'applied', change: null };
  }
  const now = stateOf(payment);
  if (now === 'processing') await setProcessing(query, top_up_id, payment.payment_id);
  else if (now === 'canceled') await setDecided(query, top_up_id, { state: 'canceled' });
  else {
    const { decline_code } = payment;
    await setDecided(query, top_up_id, { state: 'declined', decline_code });
    await tellDeclined(query, await lockSettings(query, sold.account_id), topUp, decline_code);
  }
  return { outcome: 'applied', change: state === now ? null : changeOf(top_up_id, state, now) };
}

/** A payment that was declined was canceled then, and says why. */
function stateOf({ state, decline_code }: OffSessionPayment): 'processing' | 'canceled' | 'declined' {
  if (state === 'processing') return 'processing';
  return state === 'canceled' && decline_code === null ? 'canceled' : 'declined';
}

async function applyPaid(
  query: Query,
  needs: TopUpNeeds,
  read: Read & { topUp: TopUp | undefined; mayHold: boolean },
): Promise<Applied> {
  const { top_up_key, sold, payment, isLate, topUp, mayHold } = read;
  const { payment_id, created_at } = payment;
  const { account_id } = sold;
  if (!mayHold && !isLate) {
    if (topUp !== undefined) throw new Error(`the account ${String(account_id)} was erased meanwhile`);
    // A database that was restored to before the account was made has forgotten it, too.
    const details = { account_id, points: sold.points };
    await reportIssue(query, {
      kind: 'points_not_granted',
      object_id: payment_id,
      account_id: null,
      details,
    });
    return NOTHING;
  }
  const purchase = await insertPurchase(query, { ...sold, quantity: 1 });
  const { purchase_id } = purchase;
  const isGranted = await settlePaid(query, needs, purchase, { payment_id, session_id: null, mayHold });
  if (topUp === undefined)
    await insertPaid(query, { ...sold, top_up_key, purchase_id, payment_id, created_at });
  else await setDecided(query, topUp.top_up_id, { state: 'paid', purchase_id, payment_id });
  const change = changeOf(topUp?.top_up_id ?? 0, topUp?.state ?? 'unknown', 'paid');
  return { outcome: isGranted ? 'applied' : 'ignored', change };
}

function changeOf(topUpId: number, before: string, now: string): string {
  return `top-up ${String(topUpId)}: ${before} to ${now}`;
}
