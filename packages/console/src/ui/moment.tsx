import { formatDay, formatDays, formatExact, formatMoment, momentTitle } from './format.ts';

/** A time: relative when it is near, else in UTC; exact on hover. */
export function Moment({ at }: { at: string }) {
  return (
    <time dateTime={at} title={momentTitle(at)}>
      {formatMoment(at)}
    </time>
  );
}

/** A time to the second, where neighbours are told apart or something ends for good. */
export function ExactMoment({ at }: { at: string }) {
  return (
    <time dateTime={at} title={momentTitle(at)}>
      {formatExact(at)}
    </time>
  );
}

/** A day of UTC, such as the end of a period; exact on hover. */
export function Day({ at }: { at: string }) {
  return (
    <time dateTime={at} title={momentTitle(at)}>
      {formatDay(at)}
    </time>
  );
}

/** The days of a billing period, the last one included; exact on hover. */
export function PeriodDays({ period }: { period: { started_at: string; ended_at: string } }) {
  const { started_at, ended_at } = period;
  return (
    <span title={`${formatExact(started_at)} to ${formatExact(ended_at)}`}>
      {formatDays(started_at, ended_at)} UTC
    </span>
  );
}
