import { formatBytes, formatDuration, formatNumber } from '../../ui/format.ts';

const LIMITS = {
  points_limit_exceeded: { limit: 'points_limit', format: formatNumber, unit: ' points per billing period' },
  time_limit_exceeded: {
    limit: 'time_sec_limit',
    format: formatDuration,
    unit: ' of streaming per billing period',
  },
  traffic_limit_exceeded: {
    limit: 'traffic_bytes_limit',
    format: formatBytes,
    unit: ' of traffic per billing period',
  },
  rate_limit_exceeded: { limit: 'rate_limit', format: formatNumber, unit: ' calls per minute' },
  session_limit_exceeded: { limit: 'session_limit', format: formatNumber, unit: ' calls at a time' },
  subscription_limit_exceeded: {
    limit: 'subscription_limit',
    format: formatNumber,
    unit: ' open subscriptions',
  },
} as const;

type LimitName = (typeof LIMITS)[keyof typeof LIMITS]['limit'];

/** In points, calls, seconds or bytes; null is unlimited. */
type Limits = Readonly<Record<LimitName, number | null>>;

type Plan = { name: string; limits: Limits };

/** The limit behind a refusal as it is now, and the plan that raises it least; null if the code has no limit. */
export function limitAdvice(code: string, limits: Limits, plans: readonly Plan[]): string | null {
  if (!isOfLimit(code)) return null;
  const { limit: name, format, unit } = LIMITS[code];
  const own = limits[name];
  if (own === null) return null;
  const allowed = (plan: Plan) => plan.limits[name] ?? Infinity;
  const [larger] = plans
    .filter((plan) => allowed(plan) > own)
    .toSorted((one, other) => allowed(one) - allowed(other));
  const current = `Your limit is ${format(own)}${unit}.`;
  if (larger === undefined) return current;
  const limit = larger.limits[name];
  return `${current} The plan ${larger.name} ${limit === null ? 'has no such limit' : `allows ${format(limit)}`}.`;
}

/** Whether a refusal with this code is due to a limit of the plan. */
export function isOfLimit(code: string): code is keyof typeof LIMITS {
  return Object.hasOwn(LIMITS, code);
}
