import { z } from 'zod';
import { Problem } from '@tollgate/http/problem';
import { Reply, operation } from '@tollgate/operation';
import type { Chapter } from '@tollgate/operation';
import { unblocked } from '../../billing/entitlements/refuse-blocked.ts';
import type { BlockedNeeds } from '../../billing/entitlements/refuse-blocked.ts';
import { id, instant } from '../../http/answer-fields.ts';
import { idField } from '../../http/input/fields.ts';
import { idParameter } from '../../http/input/id-parameter.ts';
import { session } from '../../identity/sessions/require-session.ts';
import type { SignedIn } from '../../identity/sessions/require-session.ts';
import type { Actor } from '../../platform/audit/audit-log.ts';
import type { Query } from '../../platform/database/query.ts';
import type { SelfService } from '../../self-service/settings.ts';
import { findOwnCheckout } from './store.ts';
import type { StripeSubscription } from './store.ts';

/** What operations do about paid subscriptions; there is none with PAYMENTS=none. */
export type PaidSubscriptions = {
  begin: (
    wanted: { account_id: number; plan_id: number; billing_interval: 'month' | 'year' },
    by: Actor,
  ) => Promise<StripeSubscription>;
  /** Asks the provider what became of it. Does nothing if it can't be reached. */
  refresh: (checkout: StripeSubscription) => Promise<void>;
  /** Where the account manages its cards. @throws {Problem} not_found if it has never paid; payments_unavailable */
  portal: (accountId: number) => Promise<string>;
};

type Needs = { query: Query; selfService: SelfService; paidSubscriptions: PaidSubscriptions | null };

const intervalField = z.enum(['month', 'year'], 'must be month or year');

const checkoutSchema = z
  .object({
    checkout_id: id,
    plan_id: id,
    billing_interval: intervalField,
    state: z.enum(['open', 'processing', 'expired', 'started', 'refused']).meta({
      description:
        '`processing`: the payment is pending. `refused`: the account got another plan meanwhile; the payment is refunded.',
    }),
    checkout_url: z.string().nullable().meta({ description: 'Where to pay; null unless it is `open`.' }),
    created_at: instant,
  })
  .meta({ id: 'SubscriptionCheckout' });

const CHECKOUT = { description: 'The checkout.', schema: checkoutSchema };

/** By then the event has come, normally. */
const ASK_AFTER_MS = 2_000;

export const ownerPaidSubscriptions = {
  title: 'Paying for a plan',
  description: 'Subscribing through the payment page of Stripe, where payments are enabled.',
  operations: [
    operation('POST /api/console/subscription/checkout', {
      operationId: 'beginSubscription',
      summary: 'Subscribe to a plan on a payment page',
      description:
        'Opens a payment page. The plan starts once it is paid; until then the present plan or trial continues, and ' +
        'then it ends with the points that are left. The same plan within 30 minutes leads to the same page; other ' +
        'open pages of the account are closed.',
      caller: session,
      guard: maySubscribe,
      body: z.strictObject({ plan_id: idField, billing_interval: intervalField }),
      example: { plan_id: 3, billing_interval: 'month' },
      answers: { 201: CHECKOUT },
      problems: [
        'account_blocked',
        'forbidden',
        'not_found',
        'payments_unavailable',
        'periods_overlap',
        'plan_not_offered',
        'subscription_exists',
        'too_many_requests',
      ],
      handle: async ({ paidSubscriptions }: Needs, { by: { account_id, actor }, body }) =>
        new Reply(201, answerOf(await switchedOn(paidSubscriptions).begin({ account_id, ...body }, actor))),
    }),
    operation('GET /api/console/subscription/checkouts/{checkout_id}', {
      operationId: 'getSubscriptionCheckout',
      summary: 'Get a checkout of a subscription',
      description:
        'Fetches the status from the payment provider if the checkout is older than 2 seconds and still open or processing.',
      caller: session,
      params: z.object({ checkout_id: idParameter }),
      answers: { 200: CHECKOUT },
      problems: ['not_found'],
      handle: async (
        { query, paidSubscriptions }: Needs,
        { by: { account_id }, params: { checkout_id } },
      ) => {
        const found = await findOwnCheckout(query, account_id, checkout_id);
        if (found === undefined) throw new Problem('not_found');
        const isDecided = found.state !== 'open' && found.state !== 'processing';
        if (
          paidSubscriptions === null ||
          isDecided ||
          Date.now() - found.created_at.getTime() < ASK_AFTER_MS
        ) {
          return answerOf(found);
        }
        await paidSubscriptions.refresh(found);
        return answerOf((await findOwnCheckout(query, account_id, checkout_id)) ?? found);
      },
    }),
    operation('POST /api/console/payments/portal', {
      operationId: 'openPaymentPortal',
      summary: 'Open the customer portal',
      description:
        'Cards, billing address and VAT numbers are managed on a page of Stripe. The link expires soon.',
      caller: session,
      answers: { 200: { description: 'The page.', schema: z.object({ url: z.string() }) } },
      problems: ['not_found', 'payments_unavailable'],
      handle: async ({ paidSubscriptions }: Needs, { by: { account_id } }) => ({
        url: await switchedOn(paidSubscriptions).portal(account_id),
      }),
    }),
  ],
} satisfies Chapter;

/** Guard: where the operator has made it self-service, and never for a blocked account. */
async function maySubscribe(needs: BlockedNeeds & Pick<Needs, 'selfService'>, by: SignedIn): Promise<void> {
  if (!needs.selfService.actions.includes('subscribe')) {
    throw new Problem('forbidden', { detail: 'This is not self-service. Contact sales.' });
  }
  await unblocked(needs, by);
}

/** @throws {Problem} not_found with PAYMENTS=none */
function switchedOn(paidSubscriptions: PaidSubscriptions | null): PaidSubscriptions {
  if (paidSubscriptions === null) throw new Problem('not_found');
  return paidSubscriptions;
}

function answerOf({
  checkout_id,
  plan_id,
  billing_interval,
  state,
  session_url,
  created_at,
}: StripeSubscription) {
  const checkout_url = state === 'open' ? session_url : null;
  return { checkout_id, plan_id, billing_interval, state, checkout_url, created_at };
}
