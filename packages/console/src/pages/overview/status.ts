import { serverNowMs } from '../../api/server-clock.ts';
import { formatDay } from '../../ui/format.ts';
import { LIMIT_NAMES } from './limit-names.ts';
import type { Pace } from './queries.ts';

export type StatusText = { tone: 'good' | 'warning' | 'danger'; label: string; advice: string };

/** Beside a plan in order (docs/design/counting.md). */
export const SOME_REFUSED: StatusText = {
  tone: 'warning',
  label: 'Active, some calls refused',
  advice: 'More than 1% of your calls in this hour and the one before were refused or failed.',
};

/** The status in words, and what to do about it. A member can only ask who pays. */
export function statusText(pace: Pace): StatusText {
  const { status, payer, billing_period: period } = pace;
  const ended = `The billing period ended on ${formatDay(period.ended_at)}.`;
  const renew = payer === null ? 'renew your plan' : `ask ${payer.name} to renew the plan`;
  switch (status) {
    case 'grace':
      // The period isn't over, so it isn't paid.
      if (Date.parse(period.ended_at) > serverNowMs()) {
        const pay =
          payer === null ? 'Pay the open invoice on the Plan page.' : `Ask ${payer.name} to pay it.`;
        return {
          tone: 'warning',
          label: 'Payment overdue',
          advice: `The plan isn’t paid yet. Calls still work. ${pay}`,
        };
      }
      return {
        tone: 'warning',
        label: 'Grace period',
        advice: `${ended} Calls work until ${formatDay(period.grace_ends_at)}: ${renew} before then.`,
      };
    case 'blocked':
      return {
        tone: 'danger',
        label: 'Blocked',
        advice: `Calls are refused, and you cannot create credentials. ${
          payer === null
            ? 'If a payment is due, pay it on the Plan page. Otherwise contact support.'
            : `Ask ${payer.name}, or contact support.`
        }`,
      };
    case 'expired':
      return {
        tone: 'danger',
        label: 'Expired',
        advice: `${ended} Calls are refused: ${renew} to continue.`,
      };
    case 'active':
      return activeText(pace);
  }
}

function activeText({ limits, payer, billing_period: period }: Pace): StatusText {
  const [reached] = (['points_limit', 'time_sec_limit', 'traffic_bytes_limit'] as const).filter(
    (field) => limits[field]?.reached,
  );
  if (reached === undefined) {
    return { tone: 'good', label: 'Active', advice: 'Calls are accepted.' };
  }
  const name = LIMIT_NAMES[reached].toLowerCase();
  const credits = reached === 'points_limit' ? 'get more credits or ' : '';
  const more = payer === null ? `${credits}change to a larger plan` : `ask ${payer.name} for a larger plan`;
  return {
    tone: 'danger',
    label: 'Limit reached',
    advice: `The ${name} of this period ${reached === 'points_limit' ? 'are' : 'is'} used up, and calls are refused. Wait until ${formatDay(period.ended_at)}, or ${more}.`,
  };
}
