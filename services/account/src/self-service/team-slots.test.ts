import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  periodsOf,
  subscribe,
  agedSubscriber,
  makePublicPlan,
  order,
  setSlots,
  shownTo,
  startShop,
  subscriber,
} from '../../test/suite/billing.ts';
import { newOwner } from '../../test/suite/console.ts';
import { operatorCredentials } from '../../test/suite/operator.ts';
import { startPeople } from '../../test/suite/people.ts';
import type { PeopleUnderTest } from '../../test/suite/people.ts';
import { inviteTo, joinTeam, makeTeam } from '../../test/suite/team.ts';

/** Team slots, members, and what is not self-service. */

let suite: PeopleUnderTest;
let small: number;
let large: number;

beforeAll(async () => {
  ({ suite, small, large } = await startShop());
});

afterAll(async () => {
  await suite.close();
});

const person = () => newOwner(suite);

describe('team slots', () => {
  test('are bought up to the maximum, and released down to those that are taken', async () => {
    const owner = await subscriber(suite, small);
    expect((await shownTo(owner)).team_slots).toEqual({
      used: 1,
      included: 3,
      limit: 3,
      least: 3,
      pending_limit: null,
      is_charged: false,
      max: 10,
      price: '€5 per month',
    });
    expect((await setSlots(owner, 10)).body['team_slots']).toMatchObject({ limit: 10 });
    await makeTeam(owner);
    const members = [await person(), await person(), await person()];
    await joinTeam(owner, ...members);
    await inviteTo(owner, await person());
    for (const [wanted, status] of [
      [11, 400],
      [4, 400],
      [5, 200],
    ] as const) {
      expect([wanted, (await setSlots(owner, wanted)).status]).toEqual([wanted, status]);
    }
    const periods = await periodsOf(suite.account, owner.account_id);
    expect(periods).toMatchObject([{ team_slots_limit: 5 }]);
  });

  test('of the plan’s own number are no add-on, and go with a change to a plan that has as many', async () => {
    const owner = await agedSubscriber(suite, small, 1);
    await setSlots(owner, 6);
    expect((await setSlots(owner, 3)).body['subscription']).toMatchObject({ team_slots_limit: null });
    await setSlots(owner, 6);
    const { body } = await order(owner, large, { effective: 'now' });
    expect(body).toMatchObject({
      subscription: { team_slots_limit: null },
      billing_period: { limits: { team_slots_limit: 8 } },
    });
  });

  test('that a plan does not offer are refused, and do not move to it', async () => {
    const none = await makePublicPlan(suite.account, { points_limit: 50_000, team_slots_limit: 2 });
    const plain = await subscriber(suite, none);
    expect((await setSlots(plain, 5)).body['code']).toBe('plan_not_offered');
    const owner = await subscriber(suite, small);
    await setSlots(owner, 6);
    expect((await order(owner, none, { effective: 'period_end' })).body['code']).toBe('plan_not_offered');
  });
});

test('a member sees who pays and can buy nothing, but can cancel an own subscription', async () => {
  const [manager, member] = [await subscriber(suite, large), await subscriber(suite, small)];
  await makeTeam(manager);
  await joinTeam(manager, member);
  expect(await shownTo(member)).toMatchObject({
    payer: { account_id: manager.account_id, email: manager.email },
    billing_period: { plan_id: large },
    subscription: { plan_id: small },
    team_slots: null,
  });
  for (const answer of [
    await order(member, large),
    await order(member, large, { effective: 'period_end' }),
    await setSlots(member, 5),
  ]) {
    expect([answer.status, answer.body['code']]).toEqual([403, 'forbidden']);
  }
  expect((await member.browser.request('POST', '/subscription/cancel')).status).toBe(200);
});

test('only the actions of SELF_SERVICE are; the others say to contact sales', async () => {
  const restricted = await startPeople({ OPERATOR_CREDENTIALS: operatorCredentials });
  try {
    const plan = await makePublicPlan(restricted.account, { points_limit: 1, team_slots_limit: 1 });
    const owner = await newOwner(restricted);
    await subscribe(restricted.account, plan, { account_id: owner.account_id });
    expect(await shownTo(owner)).toMatchObject({
      self_service: { actions: ['cancel'], contact_sales_url: null },
    });
    for (const answer of [
      await order(owner, plan),
      await order(owner, plan, { effective: 'period_end' }),
      await setSlots(owner, 5),
    ]) {
      expect([answer.status, answer.body['detail']]).toEqual([403, expect.stringContaining('Contact sales')]);
    }
    expect((await owner.browser.request('POST', '/subscription/cancel')).status).toBe(200);
  } finally {
    await restricted.close();
  }
});
