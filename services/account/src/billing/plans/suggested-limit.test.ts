import { expect, test } from '@jest/globals';
import { LIMIT_FIELDS, callRulesSchema } from '@tollgate/contracts/entitlement';
import { suggestedLimit } from './suggested-limit.ts';

test.each([
  ['point_limit', 'points_limit'],
  ['points_limits', 'points_limit'],
  ['pointsLimit', 'points_limit'],
  ['points-limit', 'points_limit'],
  ['POINTS_LIMIT', 'points_limit'],
  ['ponits_limit', 'points_limit'],
  ['points_limt', 'points_limit'],
  ['limit_points', 'points_limit'],
  ['max_points', 'points_limit'],
  ['maxPoints', 'points_limit'],
  ['points_quota', 'points_limit'],
  ['points_limit_per_month', 'points_limit'],
  ['rate_limits', 'rate_limit'],
  ['limit_rate_per_minute', 'rate_limit'],
  ['sessions_limit', 'session_limit'],
  ['max_sessions', 'session_limit'],
  ['subscriptions_limit', 'subscription_limit'],
  ['max_subscriptions', 'subscription_limit'],
  ['time_limit', 'time_sec_limit'],
  ['time_sec_limits', 'time_sec_limit'],
  ['traffic_limit', 'traffic_bytes_limit'],
  ['traffic_byte_limit', 'traffic_bytes_limit'],
  ['team_limit', 'team_slots_limit'],
  ['max_team_slots', 'team_slots_limit'],
])('%s is probably meant to be %s', (attribute, limit) => {
  expect(suggestedLimit(attribute)).toBe(limit);
});

test.each([
  ...LIMIT_FIELDS,
  ...Object.keys(callRulesSchema.shape),
  'support',
  'points',
  'rate',
  'price',
  'team',
  'sla',
  'limited_offer',
  'max',
  'limits',
  '',
  '点数制限',
  'requests_limit',
  'storage_limit',
  'max_users',
  'api_versions',
  'points_per_euro',
  'time_zone',
])('%s is an attribute of its own', (attribute) => {
  expect(suggestedLimit(attribute)).toBeUndefined();
});
