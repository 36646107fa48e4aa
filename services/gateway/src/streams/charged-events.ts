import { Problem, toProblem } from '@tollgate/http/problem';
import { together } from '../ledger/leases.ts';
import type { Principal } from '../ledger/principal.ts';
import type { RecordUsage } from '../ledger/record-usage.ts';
import { usageEvent } from '../ledger/usage-event.ts';
import type { ReservePoints } from '../pipeline/admit/reserve-points.ts';
import { acknowledgedInTime } from '../pipeline/settle/settle-call.ts';
import type { SettlementTimeout } from '../pipeline/settle/settle-call.ts';
import { takeEventLease } from './open-subscriptions.ts';
import type { Subscription } from './open-subscriptions.ts';

export type ChargedEventsOptions<S extends Subscription> = {
  principal: () => Principal;
  reserve: ReservePoints;
  record: RecordUsage;
  settlementTimeout: SettlementTimeout;
  pointsPerMinute: number;
  /** What is left doesn't cover the subscription's next event: it has to end. */
  onUncovered: (subscription: S, problem: Problem) => void;
};

/**
 * Charges an event. Resolves with null when it is recorded or its subscription has ended, otherwise with why it must
 * not be passed on: its subscription has to end.
 */
export type ChargeEvent<S extends Subscription> = (
  subscription: S,
  used: { points: number; trafficBytes: number },
) => Promise<Problem | null>;

type Waiting<S> = {
  subscription: S;
  points: number;
  trafficBytes: number;
  resolve: (refusal: Problem | null) => void;
};

const UNRECORDED = new Problem('service_unavailable', {
  detail: 'The usage of an event could not be recorded in time.',
  cause: new Error('Redis has not acknowledged the usage'),
});

/**
 * Charges events of subscriptions whose payer's points are strict before they are passed on (docs/design/admission.md).
 * What an event costs beyond what its subscription has reserved for it is reserved first. These reservations end in the
 * step that records the event; then its subscription reserves its next one. Events that arrive meanwhile are charged
 * together.
 */
export function createChargeEvent<S extends Subscription>(options: ChargedEventsOptions<S>): ChargeEvent<S> {
  const { principal, reserve, record, settlementTimeout, pointsPerMinute, onUncovered } = options;
  /** Subscriptions of which an event was refused. */
  const refused = new WeakSet<S>();
  let waiting: Waiting<S>[] = [];
  let isCharging = false;

  const minutePoints = ({ lease }: S) => (lease === null ? 0 : pointsPerMinute);

  /** What subscriptions have reserved for their present minutes, and for their next events, which these are. */
  function pointsHeld(events: readonly Waiting<S>[]): number {
    let held = 0;
    for (const subscription of new Set(events.map((event) => event.subscription))) {
      held += minutePoints(subscription) + reservedForEvent(subscription);
    }
    return held;
  }

  const isOpen = ({ subscription }: Waiting<S>) => !subscription.ended && !refused.has(subscription);

  /** @throws {Problem} of admission, or if they aren't recorded in time */
  async function chargeTogether(sent: readonly Waiting<S>[]): Promise<void> {
    const paying = principal();
    const beyond = await reserve(paying.payer, pointsBeyondReserved(sent), pointsHeld(sent));
    const events = sent.filter(isOpen);
    if (events.length === 0 || principal().payer !== paying.payer) {
      beyond.release();
      if (events.length > 0) await chargeTogether(events);
      return;
    }
    const lease = together([beyond, ...events.map(({ subscription }) => takeEventLease(subscription))]);
    const byOperation = [...Map.groupBy(events, ({ subscription }) => subscription.counted)];
    const recorded = byOperation.map(([counted, used], index) => {
      const isLast = index === byOperation.length - 1;
      const operation = counted && { counted, isError: false, durationMs: null, estimatedPoints: null };
      const usage = {
        points: sumOf(used, 'points'),
        requests: 0,
        time_ms: 0,
        traffic_bytes: sumOf(used, 'trafficBytes'),
      };
      // The reservations cover all of them.
      const released = isLast ? lease.handOver() : null;
      return record(usageEvent(paying, usage, operation), paying.payer.lane, released);
    });
    if (!(await acknowledgedInTime(Promise.all(recorded), settlementTimeout))) throw UNRECORDED;
  }

  async function charge(events: readonly Waiting<S>[]): Promise<void> {
    try {
      await chargeTogether(events.filter(isOpen));
      for (const { resolve } of events) resolve(null);
    } catch (error) {
      const problem = toProblem(error);
      if (events.length > 1 && problem.status < 500) {
        // What is left may cover some of them.
        for (const event of events) await charge([event]);
        return;
      }
      for (const { subscription, resolve } of events) {
        refused.add(subscription);
        resolve(problem);
      }
    }
  }

  async function reserveNext(subscription: S): Promise<void> {
    const { eventPoints } = subscription;
    const { payer } = principal();
    if (!needsReservation(subscription)) return;
    try {
      const lease = await reserve(payer, eventPoints, minutePoints(subscription));
      const isWanted = needsReservation(subscription) && principal().payer === payer;
      if (isWanted) subscription.eventLease = lease;
      else lease.release();
    } catch (error) {
      const problem = toProblem(error);
      // If Redis is away, the next event needs all that it costs.
      if (problem.status < 500 && needsReservation(subscription)) onUncovered(subscription, problem);
    }
  }

  async function chargeWaiting(): Promise<void> {
    isCharging = true;
    while (waiting.length > 0) {
      const events = waiting;
      waiting = [];
      await charge(events);
      const subscriptions = new Set(events.filter(isOpen).map(({ subscription }) => subscription));
      await Promise.all([...subscriptions].map(reserveNext));
    }
    isCharging = false;
  }

  return (subscription, { points, trafficBytes }) =>
    new Promise((resolve) => {
      waiting.push({ subscription, points, trafficBytes, resolve });
      if (!isCharging) void chargeWaiting();
    });
}

function needsReservation({ ended, eventPoints, eventLease }: Subscription): boolean {
  return !ended && eventPoints > 0 && eventLease === null;
}

/** Each subscription has its own reservation: one that ends must not take away what covers another's events. */
function pointsBeyondReserved(events: readonly Waiting<Subscription>[]): number {
  let beyond = 0;
  for (const [subscription, own] of Map.groupBy(events, (event) => event.subscription)) {
    beyond += Math.max(sumOf(own, 'points') - reservedForEvent(subscription), 0);
  }
  return beyond;
}

function reservedForEvent({ eventPoints, eventLease }: Subscription): number {
  return eventLease === null ? 0 : eventPoints;
}

function sumOf(events: readonly Waiting<Subscription>[], field: 'points' | 'trafficBytes'): number {
  return events.reduce((sum, event) => sum + event[field], 0);
}
