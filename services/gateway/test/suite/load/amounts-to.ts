import type { Counted } from '../records/billing-records.ts';

type Call = { points: number; bytes: number };

/** Whether a total is all of the certain calls and some of the possible ones, none of them twice. */
export function amountsTo(total: Counted, certain: readonly Call[], possible: readonly Call[]): boolean {
  const rest = certain.reduce(without, total);
  return isSumOfSome(rest, possible);
}

function isSumOfSome(rest: Counted, possible: readonly Call[]): boolean {
  if (rest.requests < 0 || rest.points < 0 || rest.traffic_bytes < 0) return false;
  const [first, ...others] = possible;
  if (first === undefined) return rest.requests === 0 && rest.points === 0 && rest.traffic_bytes === 0;
  return isSumOfSome(rest, others) || isSumOfSome(without(rest, first), others);
}

function without({ points, requests, traffic_bytes }: Counted, call: Call): Counted {
  return {
    points: points - call.points,
    requests: requests - 1,
    traffic_bytes: traffic_bytes - call.bytes,
  };
}
