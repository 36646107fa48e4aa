import { isDeepStrictEqual } from 'node:util';
import type { UsageEvent } from '@tollgate/contracts/usage-stream';
import { toProblem } from '@tollgate/http/problem';
import type { Problem } from '@tollgate/http/problem';
import type { CountedOperation } from '../operation-reader/counted-operation.ts';
import type { Admit } from '../pipeline/admit/admit.ts';
import { createReservePoints } from '../pipeline/admit/reserve-points.ts';
import type { ReservePoints } from '../pipeline/admit/reserve-points.ts';
import { NO_LEASE } from '../ledger/leases.ts';
import type { Lease, LeaseEntry } from '../ledger/leases.ts';
import type { PayerEntitlement, Principal } from '../ledger/principal.ts';
import { exhaustedLimit } from './exhausted-limit.ts';
import type { PrimePayer } from '../ledger/prime.ts';
import type { PointsLeft, ReadPointsLeft } from '../ledger/points-left.ts';
import { createOperationMeter } from './operation-meter.ts';
import type { OperationMeter } from './operation-meter.ts';
import type { LiveUsage } from '../ledger/record-script.ts';
import type { RecordUsage } from '../ledger/record-usage.ts';
import { usageEvent } from '../ledger/usage-event.ts';
import type { UntimedUsage } from '../ledger/usage-event.ts';

export type Subscription = {
  /** What its usage is counted by; null if it isn't known. */
  readonly counted: CountedOperation | null;
  /** Its slot; null while it has none. */
  lease: Lease | null;
  /** What one event costs at most, and what is reserved for the next one, if its payer's points are strict. */
  eventPoints: number;
  eventLease: Lease | null;
  /** Null until its time runs. */
  meter: OperationMeter | null;
  ended: boolean;
};

export function newSubscription(counted: CountedOperation | null, lease: Lease | null = null): Subscription {
  return { counted, lease, eventPoints: 0, eventLease: null, meter: null, ended: false };
}

/** For the record of its event. */
export function takeEventLease(subscription: Pick<Subscription, 'eventLease'>): Lease {
  const lease = subscription.eventLease ?? NO_LEASE;
  subscription.eventLease = null;
  return lease;
}

export type OpenSubscriptionsOptions<S extends Subscription> = {
  record: RecordUsage;
  primePayer: PrimePayer;
  readPointsLeft: ReadPointsLeft;
  principal: Principal;
  apiVersion?: UsageEvent['api_version'];
  settleIntervalMs: number;
  pointsPerMinute: number;
  /** A limit of the period is used up: the subscriptions have to end. */
  onExhausted: (problem: Problem) => void;
  admit: Admit;
  /** Another entitlement is in force, under which the subscription gets no slot: it has to end. */
  onSlotLost: (subscription: S, problem: Problem) => void;
};

/**
 * Holds a principal's open subscriptions, over HTTP (docs/design/admission.md) or a WebSocket (docs/design/sockets.md),
 * to the limits of its period: records usage at an interval, then checks the period's live counters. Times are of
 * performance.now().
 */
export class OpenSubscriptions<S extends Subscription> {
  readonly #options: OpenSubscriptionsOptions<S>;
  readonly #reserve: ReservePoints;
  readonly #open = new Set<S>();
  #principal: Principal;
  /** Usage since the last settlement by operation, without the time of open subscriptions. */
  #owed: Owed = new Map();
  #underWay = 0;
  #lastSettlement = Promise.resolve();
  #settleAgain = false;
  #settleAtMs = Infinity;
  #usesPoints = false;
  #pointsLeft = Infinity;

  constructor(options: OpenSubscriptionsOptions<S>) {
    this.#options = options;
    this.#reserve = createReservePoints(options.admit);
    this.#principal = options.principal;
  }

  get principal(): Principal {
    return this.#principal;
  }

  /**
   * Takes a slot from the payer at the time of the grant, and reserves what the next event costs at most; false if
   * ended meanwhile. @throws {Problem} of admission.
   */
  async takeSlot(subscription: S, eventPoints = subscription.eventPoints): Promise<boolean> {
    subscription.eventPoints = eventPoints;
    for (;;) {
      const { payer } = this.#principal;
      const eventLease = await this.#reserve(payer, eventPoints, 0);
      const lease = await this.#takeLease(payer, eventPoints).catch((error: unknown) => {
        eventLease.release();
        throw error;
      });
      if (!subscription.ended && isSameSlot(payer, this.#principal.payer)) {
        // An event that was charged meanwhile may have reserved the next one, too.
        takeEventLease(subscription).release();
        Object.assign(subscription, { lease, eventLease });
        this.#open.add(subscription);
        return true;
      }
      lease.release();
      eventLease.release();
      if (subscription.ended) return false;
    }
  }

  async #takeLease(payer: PayerEntitlement, eventPoints: number): Promise<Lease> {
    const { admit, pointsPerMinute } = this.#options;
    return (await admit(payer, 'subscription', 1, pointsPerMinute, eventPoints)).lease;
  }

  /** Starts a subscription's time. The first settlement tells how much of the period is left. */
  begin(subscription: S, nowMs: number, firstSettlementMs: number): void {
    subscription.meter = createOperationMeter(nowMs, this.#options.pointsPerMinute);
    this.#open.add(subscription);
    this.#settleWithin(firstSettlementMs);
  }

  countTraffic(counted: CountedOperation | null, bytes: number): void {
    this.#owe(counted, { ...NOTHING, trafficBytes: bytes });
    this.#settleWithin(this.#options.settleIntervalMs);
  }

  /** Points for the response itself, charged with the next settlement. */
  addPoints(counted: CountedOperation | null, points: number): void {
    this.#owe(counted, { ...NOTHING, points });
  }

  /** Points that the upstream states for a message. */
  countPoints(counted: CountedOperation | null, points: number): void {
    if (points === 0) return;
    this.addPoints(counted, points);
    this.usesPoints();
    if (this.#owedPoints() >= this.#pointsLeft) void this.#settle(performance.now());
  }

  /** From now on, subscriptions also end when the period's points are used up. */
  usesPoints(): void {
    this.#usesPoints = true;
    this.#settleWithin(STATED_POINTS_SETTLEMENT_MS);
  }

  /** Charges nothing for a subscription, unless part of it is settled. To be called before `end`. */
  waive(subscription: S): void {
    if (subscription.meter?.isSettled() === false) subscription.meter = null;
  }

  /** Ends subscriptions, all before one is settled: a settlement includes whatever is open. */
  end(subscriptions: readonly S[]): void {
    const nowMs = performance.now();
    const release = () => {
      for (const { lease, eventLease } of subscriptions) {
        lease?.release();
        eventLease?.release();
      }
    };
    const isMetered = subscriptions.map((subscription) => this.#stop(subscription, nowMs)).includes(true);
    if (isMetered && this.#principal.payer.reservesPoints) {
      // The reserved points are given to no other until the last minute is counted.
      void this.#settleNow(nowMs).then(release);
      return;
    }
    release();
    // Without usage there is no settlement: a flood of refused subscriptions must not become one of settlements.
    if (isMetered) void this.#settle(nowMs);
  }

  /** Ends a subscription, and releases its slot in the step that records its usage. Resolves when that is done. */
  async endRecorded(subscription: S): Promise<void> {
    const nowMs = performance.now();
    this.#stop(subscription, nowMs);
    const owed = this.#takeOwed(nowMs);
    const used = owed.size > 0 ? owed : new Map([[subscription.counted, NOTHING]]);
    await this.#recordAll(used, subscription.lease?.handOver() ?? null);
  }

  /** Resolves when a settlement that was due has been acknowledged. */
  settleWhenDue(nowMs: number): Promise<void> {
    return nowMs >= this.#settleAtMs ? this.#settle(nowMs) : NOT_DUE;
  }

  /** Settles everything, even if a settlement is under way. */
  settleFinally(): void {
    void this.#settleNow(performance.now());
  }

  /**
   * The entitlement that is in force now. If it is another one, usage until now goes to the former period, and slots
   * are taken again if needed.
   */
  refreshPayer(next: PayerEntitlement): void {
    const { token, payer: former } = this.#principal;
    if (isDeepStrictEqual(next, former)) return;
    if (next.periodId !== former.periodId || next.payerId !== former.payerId) this.settleFinally();
    this.#principal = { token, payer: next };
    this.#pointsLeft = Infinity;
    // The next settlement checks the new limits.
    if (this.#open.size > 0) this.#settleAtMs = 0;
    if (isSameSlot(former, next)) return;
    for (const subscription of this.#open) {
      if (subscription.lease !== null) void this.#moveSlot(subscription);
    }
  }

  async #moveSlot(subscription: S): Promise<void> {
    subscription.lease?.release();
    subscription.lease = null;
    takeEventLease(subscription).release();
    try {
      await this.takeSlot(subscription);
    } catch (error) {
      if (!subscription.ended) this.#options.onSlotLost(subscription, toProblem(error));
    }
  }

  #stop(subscription: S, nowMs: number): boolean {
    subscription.ended = true;
    this.#open.delete(subscription);
    if (subscription.meter === null) return false;
    this.#owe(subscription.counted, subscription.meter.takeSlice(nowMs));
    return true;
  }

  #settleWithin(timeMs: number): void {
    const withinMs = Math.min(timeMs, this.#options.settleIntervalMs);
    this.#settleAtMs = Math.min(this.#settleAtMs, performance.now() + withinMs);
  }

  /** One settlement is under way at a time: while Redis is away, usage adds up here. */
  #settle(nowMs: number): Promise<void> {
    if (this.#underWay === 0) return this.#settleNow(nowMs);
    this.#settleAgain = true;
    return this.#lastSettlement;
  }

  #settleNow(nowMs: number): Promise<void> {
    const used = this.#takeOwed(nowMs);
    if (used.size === 0) return NOT_DUE;
    this.#settleAgain = false;
    this.#underWay += 1;
    this.#lastSettlement = this.#record(used);
    return this.#lastSettlement;
  }

  async #record(used: Owed): Promise<void> {
    const { periodId } = this.#principal.payer;
    const live = await this.#recordAll(used);
    this.#underWay -= 1;
    this.#checkLimits(live, periodId);
    if (this.#settleAgain) void this.#settle(performance.now());
  }

  /** In one batch, whose last event releases the lease. Resolves with what is live then. */
  async #recordAll(used: Owed, lease?: LeaseEntry | null): Promise<LiveUsage | null> {
    const { record } = this.#options;
    const { lane } = this.#principal.payer;
    const events = [...used].map(([counted, usage]) => this.#eventOf(counted, usage));
    const recorded = events.map((event, index) =>
      record(event, lane, index === events.length - 1 ? lease : undefined),
    );
    return (await Promise.all(recorded)).at(-1) ?? null;
  }

  #owe(counted: CountedOperation | null, used: Partial<Usage>): void {
    const { points = 0, requests = 0, timeMs = 0, trafficBytes = 0 } = used;
    if (points + requests + timeMs + trafficBytes === 0) return;
    const owed = this.#owed.get(counted) ?? NOTHING;
    this.#owed.set(counted, {
      points: owed.points + points,
      requests: owed.requests + requests,
      timeMs: owed.timeMs + timeMs,
      trafficBytes: owed.trafficBytes + trafficBytes,
    });
  }

  #takeOwed(nowMs: number): Owed {
    for (const { counted, meter } of this.#open)
      if (meter !== null) this.#owe(counted, meter.takeSlice(nowMs));
    const isMetered = this.#metered() > 0;
    const owed = this.#owed;
    // What is due stays due until there is something to settle: only a settlement checks the limits.
    if (owed.size === 0 && isMetered) return owed;
    this.#settleAtMs = isMetered ? nowMs + this.#options.settleIntervalMs : Infinity;
    this.#owed = new Map();
    return owed;
  }

  #eventOf(
    counted: CountedOperation | null,
    { points, requests, timeMs, trafficBytes }: Usage,
  ): UntimedUsage {
    const used = { points, requests, time_ms: timeMs, traffic_bytes: trafficBytes };
    const operation = counted && { counted, isError: false, durationMs: null, estimatedPoints: null };
    return usageEvent(this.#principal, used, operation, this.#options.apiVersion);
  }

  #owedPoints(): number {
    let owed = 0;
    for (const { points } of this.#owed.values()) owed += points;
    return owed;
  }

  #metered(): number {
    let metered = 0;
    for (const { meter } of this.#open) if (meter !== null) metered += 1;
    return metered;
  }

  #checkLimits(live: LiveUsage | null, periodId: number): void {
    const { primePayer, readPointsLeft } = this.#options;
    const { payer } = this.#principal;
    if (this.#metered() === 0 || periodId !== payer.periodId) return;
    if (live === null) {
      // Redis has lost the live counters, and without them no limit can be enforced.
      primePayer(payer).catch(() => undefined);
      return;
    }
    if (payer.credits === null && payer.budgets === null && !payer.reservesPoints) {
      this.#endIfExhausted(live, UNKNOWN_POINTS);
      return;
    }
    void readPointsLeft(payer, this.#leastNeed()).then((pointsLeft) => {
      // Unknown while live counters are rebuilt: the next settlement tells.
      if (payer === this.#principal.payer) this.#endIfExhausted(live, pointsLeft ?? UNKNOWN_POINTS);
    });
  }

  /** What the next minute and event of the subscription that costs least are, if its payer's points are strict. */
  #leastNeed(): number {
    if (!this.#principal.payer.reservesPoints) return 1;
    const events = [...this.#open].map(({ eventPoints }) => eventPoints);
    return Math.max(this.#options.pointsPerMinute + Math.min(...events), 1);
  }

  #endIfExhausted(live: LiveUsage, pointsLeft: PointsLeft): void {
    const { ofPayer, ofBudgets } = pointsLeft;
    const { pointsPerMinute, onExhausted } = this.#options;
    const { payer } = this.#principal;
    const { limits, credits } = payer;
    const metered = this.#metered();
    if (metered === 0) return;
    const isLimited = credits === null && limits.points_limit !== null;
    const left = isLimited ? limits.points_limit - live.points : ofPayer;
    this.#pointsLeft = Math.min(left, ofBudgets);
    const cost = pointsPerMinute > 0 || this.#usesPoints;
    const need = this.#leastNeed();
    const exhausted = exhaustedLimit(payer, live, { ...pointsLeft, cost, need, ofPayer: left });
    if (exhausted !== null) onExhausted(exhausted);
    else if (limits.time_sec_limit !== null) {
      // Settle when these subscriptions have used up the time, not up to an interval later.
      this.#settleWithin((limits.time_sec_limit * 1000 - live.time_ms) / metered);
    }
  }
}

type Owed = Map<CountedOperation | null, Usage>;

type Usage = { points: number; requests: number; timeMs: number; trafficBytes: number };

/** Neither credits nor budgets end a subscription. */
const UNKNOWN_POINTS: PointsLeft = {
  ofPayer: Infinity,
  ofBudgets: Infinity,
  reached: null,
  ofReached: Infinity,
  unreserved: Infinity,
};

const NOTHING: Usage = { points: 0, requests: 0, timeMs: 0, trafficBytes: 0 };
const NOT_DUE = Promise.resolve();
const STATED_POINTS_SETTLEMENT_MS = 1_000;

function isSameSlot(one: PayerEntitlement, other: PayerEntitlement): boolean {
  return (
    one.payerId === other.payerId &&
    one.limits.subscription_limit === other.limits.subscription_limit &&
    one.reservesPoints === other.reservesPoints
  );
}
