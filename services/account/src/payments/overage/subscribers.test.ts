import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { waitFor } from '@tollgate/stack/wait-for';
import { done } from '../../../test/suite/billing.ts';
import { newOwner } from '../../../test/suite/console.ts';
import type { Owner } from '../../../test/suite/console.ts';
import { leaveTest, quiet, startPaidAccount } from '../../../test/suite/payments.ts';
import type { PaidAccount } from '../../../test/suite/payments.ts';

/** Points beyond the included ones of those whose plan Stripe charges. */

let suite: PaidAccount;

beforeAll(async () => {
  suite = await startPaidAccount({ CLOSING_DELAY_SEC: '0' });
});

afterAll(() => suite.close());

afterEach(() => leaveTest(suite));

type Row = Record<string, unknown>;

/** 100 points, and further ones at 5.00 for 1,000. */
const PRICE = { price_per_1000: 500, currency: 'eur' };

let plans = 0;

async function newPlan(overage: Row = PRICE): Promise<number> {
  plans += 1;
  const description = { points_limit: 100, team_slots_limit: 3, overage };
  const made = { name: `Overage ${String(plans)}`, description };
  const { plan_id } = await done<{ plan_id: number }>(suite.account, 'POST', '/private/plans', made);
  const path = `/private/plans/${String(plan_id)}`;
  await done(suite.account, 'POST', `${path}/publish`, {
    public_position: plans,
    price_month: 'none',
    team_slots_max: 10,
    team_slot_price: 'none',
  });
  await done(suite.account, 'PUT', `${path}/prices/month`, { currency: 'eur', unit_amount: 4_900 });
  await done(suite.account, 'PUT', `${path}/team-slot-prices/month`, { currency: 'eur', unit_amount: 500 });
  return plan_id;
}

type Subscriber = Owner & { subscription_id: number; stripeId: string; period_id: number };

async function newSubscriber(plan_id: number): Promise<Subscriber> {
  const owner = await newOwner(suite);
  const wanted = { plan_id, billing_interval: 'month' };
  const { body } = await owner.browser.request('POST', '/subscription/checkout', wanted);
  const { checkout_id, checkout_url } = body as { checkout_id: number; checkout_url: string };
  await suite.payments.post(`/sample/sessions/${checkout_url.split('/').at(-1) ?? ''}/pay`, {});
  const row = async () => suite.database('stripe_subscriptions').where({ checkout_id }).first<Row>();
  await waitFor(async () => (await row())['state'] === 'started', { what: 'the plan to start' });
  await quiet(suite);
  const { stripe_subscription_id, subscription_id } = await row();
  const period = await suite
    .database('billing_periods')
    .where({ subscription_id })
    .first<{ period_id: number }>();
  return {
    ...owner,
    subscription_id: Number(subscription_id),
    stripeId: String(stripe_subscription_id),
    period_id: period.period_id,
  };
}

const put = ({ browser }: Owner, choice: Row) => browser.request('PUT', '/overage', choice);

test('further points are offered in the currency of the subscription only', async () => {
  const other = { ...PRICE, currency: 'usd' };
  const subscriber = await newSubscriber(await newPlan(other));
  const { body } = await subscriber.browser.request('GET', '/overage');
  expect(body['overage']).toMatchObject({ offer: null });
  const refused = await put(subscriber, { cap_points: 100, ...other });
  expect([refused.status, refused.body['code']]).toEqual([409, 'overage_not_offered']);
});
