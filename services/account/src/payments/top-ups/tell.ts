import { findVerifiedEmail } from '../../identity/accounts/account-store.ts';
import { enqueueMail } from '../../mail/mail-outbox.ts';
import { enqueueDeliveries } from '../../notifications/deliveries/stores/delivery-store.ts';
import { databaseNow } from '../../platform/database/clock.ts';
import type { Query } from '../../platform/database/query.ts';
import { afterDecline, isToldByMail } from './rules.ts';
import { pause, saveDecline } from './store.ts';
import type { TopUp, TopUpSettings } from './store.ts';
import type { TopUpMail } from './top-up-mail.ts';

/** docs/webhooks.md. */
type Failure = { decline_code: string | null; paused_for: string | null; next_attempt_at: string | null };

/** Counts a decline, and says what follows from it. `settings`: undefined for an account without any more. */
export async function tellDeclined(
  query: Query,
  settings: TopUpSettings | undefined,
  { account_id, top_up_id, pack_name, points, amount, currency }: TopUp,
  decline_code: string | null,
): Promise<void> {
  if (settings === undefined) return;
  const after = afterDecline(settings.declines, decline_code);
  await saveDecline(query, account_id, after);
  const now = await databaseNow(query);
  const next_attempt_at =
    after.paused_for === null ? new Date(now.getTime() + after.backoffMs).toISOString() : null;
  const failure = { decline_code, paused_for: after.paused_for, next_attempt_at };
  const attempt = { top_up_id, pack_name, points, amount, currency };
  await deliver(query, account_id, now, { ...failure, top_up: attempt });
  if (isToldByMail(after)) await mail(query, account_id);
}

/** Nothing was tried: there is no card, or the pack isn't sold any more. */
export async function tellPaused(query: Query, accountId: number, reason: string): Promise<void> {
  await pause(query, accountId, reason);
  const failure = { decline_code: null, paused_for: reason, next_attempt_at: null, top_up: null };
  await deliver(query, accountId, await databaseNow(query), failure);
  await mail(query, accountId);
}

async function deliver(
  query: Query,
  account_id: number,
  timestamp: Date,
  failure: Failure & { top_up: object | null },
): Promise<void> {
  const event = { type: 'top_up.failed', timestamp, data: { account_id, ...failure } } as const;
  await enqueueDeliveries(query, account_id, [event]);
}

async function mail(query: Query, account_id: number): Promise<void> {
  const recipient = await findVerifiedEmail(query, account_id);
  if (recipient === undefined) return;
  const wanted: TopUpMail = { kind: 'top_up_failed', recipient, account_id };
  await enqueueMail(query, wanted);
}
