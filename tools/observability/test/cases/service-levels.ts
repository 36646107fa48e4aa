import type { AlertCase, AlertCases } from './case.ts';

type Counts = { bad: number; good: number };

const QUIET: Counts = { bad: 0, good: 10_000 };

const burning = (at: string, series: (counts: Counts) => Record<string, string>, bad: Counts): AlertCase => ({
  at,
  everyMin: at.length > 2 ? 10 : 1,
  fires: series(bad),
  quiet: series(QUIET),
});

const counter = (perSample: number) => `0+${String(perSample)}x400`;

const availability = ({ bad, good }: Counts) => ({
  'tollgate_data_calls_total{outcome="answered"}': counter(good),
  'tollgate_data_calls_total{outcome="service_unavailable"}': counter(bad),
  // Neither refusals nor a caller's own end count.
  'tollgate_data_calls_total{outcome="points_limit_exceeded"}': counter(1),
  'tollgate_data_calls_total{outcome="aborted"}': counter(1_000),
});

const addedLatency = ({ bad, good }: Counts) => ({
  'tollgate_data_call_preparation_duration_seconds_bucket{le="0.025"}': counter(good),
  tollgate_data_call_preparation_duration_seconds_count: counter(good + bad),
  'tollgate_data_call_step_duration_seconds_bucket{step="settle",le="0.025"}': counter(good),
  'tollgate_data_call_step_duration_seconds_count{step="settle"}': counter(good + bad),
});

const histogram = (name: string, le: string) => (counts: Counts) => ({
  [`${name}_bucket{le="${le}"}`]: counter(counts.good),
  [`${name}_count`]: counter(counts.good + counts.bad),
});

const usageLag = histogram('tollgate_usage_count_delay_seconds', '10');
const revocationLag = histogram('tollgate_revocation_lag_seconds', '1');

/** 2 % and 0.5 % of what has a budget of 0.1 %; 20 % and 5 % of what has one of 1 %. */
const [FAST, SLOW] = [
  { bad: 200, good: 9_800 },
  { bad: 50, good: 9_950 },
];
const [FAST_WAITS, SLOW_WAITS] = [
  { bad: 2_000, good: 8_000 },
  { bad: 500, good: 9_500 },
];

export const SERVICE_LEVEL_CASES: AlertCases = {
  TollgateAvailabilityBurnFast: burning('2h', availability, FAST),
  TollgateAvailabilityBurnSlow: burning('26h', availability, SLOW),
  TollgateAddedLatencyBurnFast: burning('2h', addedLatency, FAST_WAITS),
  TollgateAddedLatencyBurnSlow: burning('26h', addedLatency, SLOW_WAITS),
  TollgateUsageLagBurnFast: burning('2h', usageLag, FAST),
  TollgateUsageLagBurnSlow: burning('26h', usageLag, SLOW),
  TollgateRevocationLagBurnFast: burning('2h', revocationLag, FAST),
  TollgateRevocationLagBurnSlow: burning('26h', revocationLag, SLOW),
};
