import { expect, test } from '@jest/globals';
import { changeTarget, limitRows, priceInWords, remains, shortfalls } from './wording.ts';

const limits = {
  points_limit: 100_000,
  rate_limit: 600,
  session_limit: 20,
  subscription_limit: 20,
  time_sec_limit: null,
  traffic_bytes_limit: null,
  team_slots_limit: 2,
};
const starter = {
  name: 'Starter',
  prices: { month: '€29 per month', year: null },
  limits,
  points_per_call_limit: null,
  rollover_points_max: null,
  overage: null,
  team_slots: { max: 5, price: '€9 per month' },
};

/** An account that used so many points and slots, with so many slots if it has bought any. */
function using(points_usage: number, used: number, bought: number | null = null) {
  return {
    billing_period: {
      period_id: 1,
      plan_id: 2,
      plan_name: 'Standard',
      product_name: null,
      started_at: '2026-11-01T00:00:00Z',
      ended_at: '2026-11-30T23:59:59Z',
      grace_ends_at: '2026-12-03T00:00:00Z',
      is_trial: false,
      points_included: 1_000_000,
      limits: { ...limits, points_limit: 1_000_000, team_slots_limit: bought ?? 5 },
      usage: { points_usage, requests_usage: 1, time_sec_usage: 0, traffic_bytes_usage: 0 },
    },
    subscription: {
      plan_id: 2,
      plan_name: 'Standard',
      billing_interval: 'month' as const,
      next_period_at: '2026-12-01T00:00:00Z',
      cancel_at_period_end: false,
      pending: null,
      following: null,
      team_slots_limit: bought,
    },
    team_slots: {
      used,
      included: 5,
      limit: bought ?? 5,
      least: 5,
      max: 20,
      price: '€9 per month',
      is_charged: false,
      pending_limit: null,
    },
  };
}

test('a change to less says what is used of each limit that falls below it', () => {
  expect(shortfalls({ plan: starter, subscription: using(548_250, 5) })).toEqual([
    'You used 548,250 points in this billing period. Starter has 100,000.',
    'Your team uses 5 slots. Starter includes 2. All members stay, but you can’t invite anyone until a slot is free. You can add slots. Each additional slot: €9 per month.',
  ]);
  expect(shortfalls({ plan: starter, subscription: using(100_000, 2) })).toEqual([]);
  const unlimited = { ...starter, limits: { ...limits, points_limit: null, team_slots_limit: null } };
  expect(shortfalls({ plan: unlimited, subscription: using(548_250, 5) })).toEqual([]);
});

test('slots that were bought stay, and their price is beside the plan’s', () => {
  const subscription = using(0, 4, 5);
  expect(shortfalls({ plan: starter, subscription })).toEqual([
    'Your team uses 4 slots. Starter includes 2. You keep the 5 slots that you have.',
  ]);
  expect(priceInWords({ plan: starter, subscription }, 'month')).toBe(
    'The price is €29 per month, plus 3 additional team slots. Each additional slot: €9 per month.',
  );
  const unpriced = { ...starter, team_slots: { max: 5, price: null } };
  expect(priceInWords({ plan: unpriced, subscription }, 'month')).toBe(
    'The price is €29 per month, plus 3 additional team slots.',
  );
  const larger = { ...starter, limits: { ...limits, team_slots_limit: 25 } };
  expect(priceInWords({ plan: larger, subscription }, 'month')).toBe('The price is €29 per month.');
  expect(priceInWords({ plan: starter, subscription: using(0, 5) }, 'month')).toBe(
    'The price is €29 per month.',
  );
});

test('more slots than the new plan can have are to be released first', () => {
  const subscription = using(0, 1, 6);
  expect(shortfalls({ plan: starter, subscription })).toEqual([
    'You have 6 team slots. Starter has 5 at most. Release team slots first.',
  ]);
  expect(shortfalls({ plan: { ...starter, team_slots: null }, subscription })).toEqual([
    'You have 6 team slots. Starter has 2 at most. Release team slots first.',
  ]);
  expect(priceInWords({ plan: starter, subscription }, 'month')).toBe('The price is €29 per month.');
});

test('a card has each limit once', () => {
  const labels = limitRows(starter).map(([label]) => label);
  expect(new Set(labels).size).toBe(labels.length);
  expect(limitRows(starter).slice(-3)).toEqual([
    ['Team members included', '2'],
    ['Team members with additional slots', 'Up to 5'],
    ['Additional slot', '€9 per month'],
  ]);
  expect(limitRows({ ...starter, team_slots: null }).at(-1)).toEqual(['Team members included', '2']);
  expect(limitRows({ ...starter, rollover_points_max: 20_000 })[1]).toEqual([
    'Unused points carried over',
    'Up to 20,000',
  ]);
  const overage = { price_per_1000: 50, currency: 'eur', decimals: 2 };
  expect(limitRows({ ...starter, overage })[1]).toEqual(['1,000 further points', '€0.50 without tax']);
  expect(limitRows({ ...starter, points_per_call_limit: 5_000 })[1]).toEqual([
    'Points per call, at most',
    '5,000',
  ]);
});

test('a change is to another plan or, of the plan that one has, to the other interval', () => {
  const own = { plan_id: 2 };
  const standard = { plan_id: 2, name: 'Standard' };
  expect(changeTarget(own, { plan_id: 3, name: 'Business' }, 'year')).toBe('Business');
  expect(changeTarget(own, standard, 'year')).toBe('yearly billing');
  expect(changeTarget(own, standard, 'month')).toBe('monthly billing');
  expect(changeTarget(null, standard, 'month')).toBe('Standard');
});

test('a period that ends early takes the points of its plan along, not the credits beside them', () => {
  const { billing_period } = using(990_000, 1);
  const bought = { ...billing_period, limits: { ...billing_period.limits, points_limit: 1_020_000 } };
  expect(remains(billing_period, false)).toBe('10,000 points');
  expect(remains(bought, false, 20_000)).toBe('10,000 points');
  // The plan's own are used first.
  const beyond = { ...bought, usage: { ...bought.usage, points_usage: 1_005_000 } };
  expect(remains(beyond, false, 15_000)).toBe('0 points');
});
