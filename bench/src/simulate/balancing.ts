import type { Parameters } from './parameters.ts';
import { scattered } from './random.ts';
import type { Random } from './random.ts';

/**
 * Where a call goes. `isUsual`: all calls of the application go there unless the gateway is busy; elsewhere, a first
 * call finds nothing in the caches.
 */
export type Balancer = (application: number, nowSec: number) => { gateway: number; isUsual: boolean };

type Balancing = Pick<Parameters, 'balancing' | 'gatewayLoadAtMost' | 'callMs'>;

/**
 * By token with a bound, as HAProxy's `hash-balance-factor` does it: a gateway that would have more than its share of
 * the calls under way, times the factor, is passed over, and the token's next choice is tried.
 */
export function createBalancer(
  { balancing, gatewayLoadAtMost, callMs }: Balancing,
  gateways: number,
  random: Random,
): Balancer {
  if (balancing === 'random') return () => ({ gateway: random.below(gateways), isUsual: true });
  const usualOf = (application: number) => scattered(application, gateways);
  if (gatewayLoadAtMost === null) {
    return (application) => ({ gateway: usualOf(application), isUsual: true });
  }
  const underWay = createCallsUnderWay(gateways, callMs / 1_000);
  return (application, nowSec) => {
    underWay.endUntil(nowSec);
    const atMost = Math.ceil(((underWay.total() + 1) * gatewayLoadAtMost) / gateways);
    const usual = usualOf(application);
    let gateway = usual;
    for (let choice = 1; underWay.at(gateway) >= atMost; choice += 1) {
      gateway = scattered(application ^ Math.imul(choice, 0x9e3779b1), gateways);
    }
    underWay.begin(gateway, nowSec);
    return { gateway, isUsual: gateway === usual };
  };
}

/** Every call takes equally long, so that they end in the order in which they began. */
function createCallsUnderWay(gateways: number, callSec: number) {
  const at = new Int32Array(gateways);
  let ends: { sec: number; gateway: number }[] = [];
  let first = 0;
  return {
    at: (gateway: number) => at[gateway] ?? 0,
    total: () => ends.length - first,
    begin: (gateway: number, nowSec: number) => {
      ends.push({ sec: nowSec + callSec, gateway });
      at[gateway] = (at[gateway] ?? 0) + 1;
    },
    endUntil: (nowSec: number) => {
      for (let end = ends[first]; end !== undefined && end.sec <= nowSec; end = ends[first]) {
        at[end.gateway] = (at[end.gateway] ?? 0) - 1;
        first += 1;
      }
      if (first < ends.length / 2) return;
      ends = ends.slice(first);
      first = 0;
    },
  };
}
