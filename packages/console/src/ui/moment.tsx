import { formatDay, formatMoment } from './format.ts';

/** A time: relative when recent, exact in UTC on hover. */
export function Moment({ at }: { at: string }) {
  return (
    <time dateTime={at} title={new Date(at).toUTCString()}>
      {formatMoment(at)}
    </time>
  );
}

/** A date, such as the end of a period; exact in UTC on hover. */
export function Day({ at }: { at: string }) {
  return (
    <time dateTime={at} title={new Date(at).toUTCString()}>
      {formatDay(at)}
    </time>
  );
}
