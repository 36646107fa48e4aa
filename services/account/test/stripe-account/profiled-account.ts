import type { Knex } from 'knex';
import { waitFor } from '@tollgate/stack/wait-for';
import { startSellingAccount } from '../suite/payments.ts';
import type { SellingAccount } from '../suite/payments.ts';
import { borderAt } from './border.ts';
import { deletePast, leaveNothing } from './clean-up.ts';
import { startEventPump } from './event-pump.ts';
import type { Pace, StripeTarget } from './stripe-target.ts';

/** account, connected to a Stripe whose events it gets. */
export type ProfiledAccount = SellingAccount & {
  target: StripeTarget;
  pace: Pace;
  /** What account itself doesn't know of: test clocks, and customers. */
  made: { clocks: Set<string>; customers: Set<string> };
  until: <T>(condition: () => T | Promise<T>, what: string) => Promise<NonNullable<T>>;
};

export async function startProfiledAccount(target: StripeTarget, pace: Pace): Promise<ProfiledAccount> {
  const { stripe, secretKey, webhookSecret, apiUrl } = target;
  await deletePast(stripe);
  const suite = await startSellingAccount({
    SELF_SERVICE: 'subscribe,change,cancel,slots',
    CLOSING_DELAY_SEC: '0',
    STRIPE_SECRET_KEY: secretKey,
    STRIPE_WEBHOOK_SECRET: webhookSecret,
    ...(apiUrl !== undefined && { STRIPE_API_URL: apiUrl }),
  });
  await useIdsOfItsOwn(suite.database);
  const nowSec = Math.floor(Date.now() / 1_000);
  const pump = await startEventPump(
    stripe,
    { url: `${suite.account.publicUrl}/payments/stripe/events`, secret: webhookSecret },
    { sinceSec: borderAt(nowSec).startedAt - DAY_SEC, pollMs: pace.pollMs },
  );
  const made = { clocks: new Set<string>(), customers: new Set<string>() };
  return {
    ...suite,
    target,
    pace,
    made,
    until: (condition, what) =>
      waitFor(condition, {
        timeoutMs: pace.waitMs,
        what: () => {
          const problem = pump.problem();
          return problem === undefined ? what : `${what} (events: ${problem})`;
        },
      }),
    close: async () => {
      await pump.close();
      await leaveNothing(stripe, suite.database, made);
      await suite.close();
      await target.close();
    },
  };
}

const DAY_SEC = 86_400;

/**
 * Some of account's idempotency keys are made of ids, which begin at 1 in a new database. Stripe remembers the keys of
 * runs before for a day, with what has been deleted since.
 */
async function useIdsOfItsOwn(database: Knex): Promise<void> {
  const first = Math.floor(Date.now() / 1_000);
  await database.raw(
    `SELECT setval(seqrelid, ?) FROM pg_sequence JOIN pg_class ON pg_class.oid = seqrelid
     WHERE relnamespace = CAST(current_schema() AS regnamespace)`,
    [first],
  );
}
