import type { LimitField } from '@tollgate/contracts/entitlement';
import { formatBytes, formatDuration, formatNumber } from '../../ui/format.ts';

/** The limits of a plan, in words. */

export type Attributes = Readonly<Record<string, unknown>>;

export const LIMIT_LABELS: Readonly<Record<LimitField, string>> = {
  points_limit: 'Points per billing period',
  rate_limit: 'Calls per minute',
  session_limit: 'Calls at once',
  subscription_limit: 'Open subscriptions',
  time_sec_limit: 'Streaming time',
  traffic_bytes_limit: 'Traffic',
  team_slots_limit: 'Team members',
};

const TEXT: Partial<Record<LimitField, (value: number) => string>> = {
  time_sec_limit: formatDuration,
  traffic_bytes_limit: formatBytes,
};

/** In the order of the interface. From the labels, since the module of the contract brings its schemas along. */
export const LIMIT_FIELDS = Object.keys(LIMIT_LABELS) as LimitField[];

/** Null is unlimited. */
export function limitOf(description: Attributes, field: LimitField): number | null {
  const limit = description[field];
  return typeof limit === 'number' ? limit : null;
}

export function amountText(field: LimitField, value: number): string {
  return (TEXT[field] ?? formatNumber)(value);
}

export function limitText(description: Attributes, field: LimitField): string {
  const limit = limitOf(description, field);
  return limit === null ? 'Unlimited' : amountText(field, limit);
}

/** What a form of a plan has besides limits; the API keeps it. */
export function otherAttributes(description: Attributes): [string, unknown][] {
  const known: readonly string[] = LIMIT_FIELDS;
  return Object.entries(description).filter(([name]) => !known.includes(name));
}
