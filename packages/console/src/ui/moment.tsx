import { formatMoment } from './format.ts';

/** A time: relative when recent, exact in UTC on hover. */
export function Moment({ at }: { at: string }) {
  return (
    <time dateTime={at} title={new Date(at).toUTCString()}>
      {formatMoment(at)}
    </time>
  );
}
