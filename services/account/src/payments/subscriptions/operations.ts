import { z } from 'zod';
import { Problem } from '@tollgate/http/problem';
import { Reply, operation } from '@tollgate/operation';
import type { Chapter } from '@tollgate/operation';
import { unblocked } from '../../billing/entitlements/refuse-blocked.ts';
import type { BlockedNeeds } from '../../billing/entitlements/refuse-blocked.ts';
import { id, instant } from '../../http/answer-fields.ts';
import { countField, idField, idQueryField } from '../../http/input/fields.ts';
import { idParameter } from '../../http/input/id-parameter.ts';
import { billingSession } from '../../identity/sessions/require-session.ts';
import type { SignedIn } from '../../identity/sessions/require-session.ts';
import type { Actor } from '../../platform/audit/audit-log.ts';
import type { Query } from '../../platform/database/query.ts';
import type { SelfService, SelfServiceAction } from '../../self-service/settings.ts';
import { decimalsOf } from '../../platform/money/currencies.ts';
import { findOwnCheckout } from './store.ts';
import type { StripeSubscription } from './store.ts';
import type { ChargeOutcome } from './charge-change.ts';
import type { PricedChange } from './upgrade.ts';

type Wanted = { account_id: number; plan_id: number; billing_interval: 'month' | 'year' };

type WantedSlots = { account_id: number; team_slots_limit: number };

/** What operations do about paid subscriptions; there is none with PAYMENTS=none. */
export type PaidSubscriptions = {
  begin: (wanted: Wanted, by: Actor) => Promise<StripeSubscription>;
  /** What an upgrade would cost now. @throws {Problem} as `upgrade` */
  previewUpgrade: (wanted: Wanted) => Promise<PricedChange>;
  /** @throws {Problem} not_found, forbidden, plan_not_offered, plan_change_not_immediate, subscription_changed, amount_changed, payments_unavailable */
  upgrade: (wanted: Wanted & { period_id: number; amount: number }, by: Actor) => Promise<ChargeOutcome>;
  /** What more team slots would cost now. @throws {Problem} as `buySlots` */
  previewSlots: (wanted: WantedSlots) => Promise<PricedChange>;
  /** @throws {Problem} as `upgrade`, and invalid_request */
  buySlots: (
    wanted: WantedSlots & { period_id: number; amount: number },
    by: Actor,
  ) => Promise<ChargeOutcome>;
  /** Asks the provider what became of it. Does nothing if it can't be reached. */
  refresh: (checkout: StripeSubscription) => Promise<void>;
  /** Where the account manages its cards. @throws {Problem} not_found if it has never paid; payments_unavailable */
  portal: (accountId: number) => Promise<string>;
};

export type PaidNeeds = { paidSubscriptions: PaidSubscriptions | null };

type Needs = PaidNeeds & { query: Query; selfService: SelfService };

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

export const changePriceSchema = z
  .object({
    period_id: id.meta({ description: 'The current period, to send with the change.' }),
    amount: z.int().meta({ description: 'To send with the change, in the minor unit.' }),
    currency: z.string(),
    decimals: z.int().meta({ description: 'Decimals of amounts in this currency.' }),
  })
  .meta({ id: 'ChangePrice' });

export const priceAnswer = (priced: PricedChange): z.output<typeof changePriceSchema> => ({
  ...priced,
  decimals: decimalsOf(priced.currency) ?? 2,
});

/** What a customer confirms, as it was shown. */
export const confirmedFields = {
  period_id: idField.meta({ description: 'Of the price that the customer agreed to.' }),
  amount: countField.meta({ description: 'The amount that the customer agreed to.' }),
};

export const chargeOutcomeSchema = z
  .object({
    state: z.enum(['paid', 'payment_required']).meta({
      description:
        '`payment_required`: the card was declined, or the bank asks the customer. The change takes effect once the ' +
        'invoice is paid at `payment_url`, within 23 hours.',
    }),
    payment_url: z.string().nullable(),
  })
  .meta({ id: 'ChargeOutcome' });

const UPGRADE_PROBLEMS = [
  'forbidden',
  'not_found',
  'payments_unavailable',
  'plan_change_not_immediate',
  'plan_not_offered',
] as const;

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
      caller: billingSession,
      guard: mayBuy('subscribe'),
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
      caller: billingSession,
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
    operation('GET /api/console/subscription/upgrade', {
      operationId: 'previewUpgrade',
      summary: 'Get the price of an upgrade',
      description:
        'What Stripe would charge for a change to a larger plan, or from months to years, now: the difference for the ' +
        'rest of what is paid, with tax and discounts. It falls every hour.',
      caller: billingSession,
      query: z.strictObject({ plan_id: idQueryField, billing_interval: intervalField }),
      answers: {
        200: {
          description: 'The price.',
          schema: changePriceSchema,
        },
      },
      problems: UPGRADE_PROBLEMS,
      handle: async ({ paidSubscriptions }: Needs, { by: { account_id }, query }) =>
        priceAnswer(await switchedOn(paidSubscriptions).previewUpgrade({ account_id, ...query })),
    }),
    operation('POST /api/console/subscription/upgrade', {
      operationId: 'upgradePlan',
      summary: 'Pay the difference to a larger plan',
      description:
        "Charges the account's card with `amount`. The plan changes once that is paid. With the present interval, the " +
        'period continues under the new plan, and its usage counts against the new limits; another interval starts a ' +
        'period without usage.',
      caller: billingSession,
      guard: mayBuy('change'),
      body: z.strictObject({
        plan_id: idField,
        billing_interval: intervalField,
        ...confirmedFields,
      }),
      example: { plan_id: 3, billing_interval: 'month', period_id: 1_042, amount: 1_250 },
      answers: {
        200: {
          description: 'What became of it.',
          schema: chargeOutcomeSchema,
        },
      },
      problems: ['account_blocked', 'amount_changed', 'subscription_changed', ...UPGRADE_PROBLEMS],
      handle: ({ paidSubscriptions }: Needs, { by: { account_id, actor }, body }) =>
        switchedOn(paidSubscriptions).upgrade({ account_id, ...body }, actor),
    }),
    operation('POST /api/console/payments/portal', {
      operationId: 'openPaymentPortal',
      summary: 'Open the customer portal',
      description:
        'Cards, billing address and VAT numbers are managed on a page of Stripe. The link expires soon.',
      caller: billingSession,
      answers: { 200: { description: 'The page.', schema: z.object({ url: z.string() }) } },
      problems: ['not_found', 'payments_unavailable'],
      handle: async ({ paidSubscriptions }: Needs, { by: { account_id } }) => ({
        url: await switchedOn(paidSubscriptions).portal(account_id),
      }),
    }),
  ],
} satisfies Chapter;

/** Guard: where the operator has made it self-service, and never for a blocked account. */
export function mayBuy(action: SelfServiceAction) {
  return async (needs: BlockedNeeds & Pick<Needs, 'selfService'>, by: SignedIn): Promise<void> => {
    if (!needs.selfService.actions.includes(action)) {
      throw new Problem('forbidden', { detail: 'This is not self-service. Contact sales.' });
    }
    await unblocked(needs, by);
  };
}

/** @throws {Problem} not_found with PAYMENTS=none */
export function switchedOn(paidSubscriptions: PaidSubscriptions | null): PaidSubscriptions {
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
