import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { done, makePlan } from '../../../test/suite/billing.ts';
import { newOwner } from '../../../test/suite/console.ts';
import { operatePath, operatorCredentials } from '../../../test/suite/operator.ts';
import { startPeople } from '../../../test/suite/people.ts';
import type { PeopleUnderTest } from '../../../test/suite/people.ts';

/** Operators put plans into the catalogue, which signed-in customers see. */

let suite: PeopleUnderTest;

beforeAll(async () => {
  suite = await startPeople({ OPERATOR_CREDENTIALS: operatorCredentials });
});

afterAll(async () => {
  await suite.close();
});

const publish = (planId: number, entry: Record<string, unknown> = {}) =>
  operatePath(suite.account, 'POST', `/private/plans/${String(planId)}/publish`, entry);

const act = (planId: number, action: string) =>
  done(suite.account, 'POST', `/private/plans/${String(planId)}/${action}`);

test('public plans are listed in their order with price texts, lines and limits; others are not', async () => {
  const description = {
    points_limit: 5_000,
    rate_limit: 60,
    points_per_call_limit: 500,
    internal_note: 'not for customers',
  };
  const later = await makePlan(suite.account, { description });
  const first = await makePlan(suite.account);
  const hidden = await makePlan(suite.account);
  const entry = {
    public_position: 20,
    price_month: '€49 per month',
    price_year: '€490 per year',
    included: ['5,000 points', 'Support by email'],
    team_slot_price: '€5 per person and month',
    team_slots_max: 50,
  };
  expect(await publish(later, entry)).toMatchObject({ status: 200, body: { plan_id: later, ...entry } });
  await publish(first, { public_position: 10, price_month: 'Free' });
  const { browser } = await newOwner(suite);
  const { status, body, text } = await browser.request('GET', '/plans');
  expect([status, text]).toEqual([200, expect.not.stringContaining('internal_note')]);
  expect(body['plans']).toEqual([
    expect.objectContaining({ plan_id: first, prices: { month: 'Free', year: null }, team_slots: null }),
    {
      plan_id: later,
      name: expect.any(String),
      prices: { month: '€49 per month', year: '€490 per year' },
      included: entry.included,
      limits: expect.objectContaining({ points_limit: 5_000, rate_limit: 60, time_sec_limit: null }),
      points_per_call_limit: 500,
      rollover_points_max: null,
      overage: null,
      yearly_saving_percent: null,
      is_free: false,
      team_slots: { max: 50, price: '€5 per person and month' },
    },
  ]);
  const listed = await done<{ plans: { plan_id: number }[] }>(
    suite.account,
    'GET',
    '/private/plans?public=true',
  );
  expect(listed.plans.map(({ plan_id }) => plan_id)).not.toContain(hidden);

  await publish(first, { public_position: 30 });
  await act(later, 'archive');
  const again = await browser.request('GET', '/plans');
  expect(again.body['plans']).toMatchObject([{ plan_id: first, prices: { month: 'Free' } }]);
  expect((await publish(later)).body['code']).toBe('plan_archived');
  await act(first, 'unpublish');
  expect((await browser.request('GET', '/plans')).body).toEqual({ plans: [] });
  const { entries } = await done<{ entries: { action: string; details: unknown }[] }>(
    suite.account,
    'GET',
    '/private/audit-log?limit=200',
  );
  expect(entries.filter(({ action }) => /published$/.test(action))).toMatchObject([
    { action: 'plan_unpublished', details: { plan_id: first } },
    { action: 'plan_published', details: { public_position: 30, before: { public_position: 10 } } },
    { action: 'plan_published', details: { plan_id: first } },
    { action: 'plan_published', details: { plan_id: later, included: entry.included } },
  ]);
});

test.each([
  [{}, ['price_month']],
  [{ price_month: null }, ['price_month']],
  [{ price_month: '', price_year: 'x'.repeat(201) }, ['price_month', 'price_year']],
  [{ price_month: 'Free', included: ['a', ' '] }, ['included.1']],
  [{ price_month: 'Free', included: Array.from({ length: 21 }, () => 'line') }, ['included']],
  [{ price_month: 'Free', public_position: -1, team_slots_max: 1.5 }, ['public_position', 'team_slots_max']],
  [{ price_month: 'NUL \0' }, ['price_month']],
])('a faulty entry is refused: %j', async (entry, fields) => {
  const { status, body } = await publish(await makePlan(suite.account), entry);
  const errors = body['errors'] as { field: string }[];
  expect([status, errors.map(({ field }) => field).toSorted()]).toEqual([400, fields]);
});

test('the catalogue needs a session', async () => {
  expect((await fetch(`${suite.account.publicUrl}/api/console/plans`)).status).toBe(401);
});
