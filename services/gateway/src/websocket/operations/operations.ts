import type { ActiveToken } from '@tollgate/contracts/introspection';
import { toProblem } from '@tollgate/http/problem';
import type { Problem } from '@tollgate/http/problem';
import type { Admit } from '../../admission/admission.ts';
import { periodLimitExceeded } from '../../admission/refused.ts';
import type { PayerEntitlement } from '../../entitle/entitle.ts';
import type { Prime } from '../../metering/live-usage/prime.ts';
import { exhaustedLimit } from '../../metering/exhausted-limit.ts';
import { usageEvent } from '../../metering/settlement/settle-call.ts';
import type { LiveUsage } from '../../metering/settlement/record-script.ts';
import type { RecordUsage, UntimedUsage } from '../../metering/settlement/record-usage.ts';
import { createOperationMeter } from '../../metering/operation-meter.ts';
import type { OperationMeter } from '../../metering/operation-meter.ts';
import type { OperationTrace } from '../../trace/socket-trace.ts';
import { mayBeCall, mayBeSubscription, newOperation } from './operation.ts';
import type { Operation } from './operation.ts';
import type { OperationType } from './operation-type.ts';

export type OperationsOptions = {
  admit: Admit;
  record: RecordUsage;
  prime: Prime;
  token: ActiveToken;
  payer: PayerEntitlement;
  settleIntervalMs: number;
  pointsPerMinute: number;
  /** A limit of the period is used up: open subscriptions have to end. */
  onExhausted: (problem: Problem) => void;
  /** An open subscription has lost its slot. */
  onRefused: (operation: Operation, problem: Problem) => void;
};

/** What the operations of one socket hold, what its subscriptions cost, and to whom it is charged. */
export class Operations {
  readonly #options: OperationsOptions;
  readonly #all = new Set<Operation>();
  /** Those that their caller can still stop. */
  readonly #byId = new Map<string, Operation>();
  #payer: PayerEntitlement;
  /** Of ended subscriptions, points that messages stated, and bytes sent, since the last settlement. */
  #owed = NOTHING;
  #onTheirWay = 0;
  #settleAgain = false;
  #settleAtMs = Infinity;
  /** Messages of subscriptions cost points, so that they end with them. */
  #usesPoints = false;
  /** Of the period's points after the last settlement. */
  #pointsLeft = Infinity;

  constructor(options: OperationsOptions) {
    this.#options = options;
    this.#payer = options.payer;
  }

  get size(): number {
    return this.#all.size;
  }

  get payer(): PayerEntitlement {
    return this.#payer;
  }

  get(id: string): Operation | undefined {
    return this.#byId.get(id);
  }

  all(): Operation[] {
    return [...this.#all];
  }

  add(id: string, type: OperationType, trace: OperationTrace | null): Operation {
    const operation = newOperation(id, type, trace);
    this.#all.add(operation);
    this.#byId.set(id, operation);
    return operation;
  }

  /** Its caller waits for it no longer, and may use its id again. */
  abandon(operation: Operation): void {
    operation.abandoned = true;
    this.#forgetId(operation);
  }

  /**
   * Admits an operation as a call, a subscription, or both where its type is unknown. False where it has ended
   * meanwhile.
   * @throws {Problem} what admission throws.
   */
  async admit(operation: Operation): Promise<boolean> {
    if (mayBeCall(operation)) {
      const payer = this.#payer;
      const { lease } = await this.#options.admit(payer, 'call');
      operation.call = { lease, payer };
    }
    if (operation.ended) operation.call?.lease.release();
    else if (mayBeSubscription(operation)) return this.#takeSlot(operation);
    return !operation.ended;
  }

  /** It has been sent to the upstream: the time of a subscription runs. */
  begin(operation: Operation): void {
    const nowMs = performance.now();
    operation.sentMs = nowMs;
    if (!mayBeSubscription(operation)) return;
    operation.meter = createOperationMeter(nowMs, this.#options.pointsPerMinute);
    // The first settlement tells how much is left, so it comes soon.
    this.#settleWithin(FIRST_SETTLEMENT_MS);
  }

  countTraffic(bytes: number): void {
    this.#owed = { ...this.#owed, trafficBytes: this.#owed.trafficBytes + bytes };
    this.#settleWithin(this.#options.settleIntervalMs);
  }

  /** Points that a message of a subscription costs by the upstream's word. */
  countPoints(points: number): void {
    if (points === 0) return;
    this.#owed = { ...this.#owed, points: this.#owed.points + points };
    this.usesPoints();
    if (this.#owed.points >= this.#pointsLeft) this.#settle(performance.now());
  }

  /** What may be a subscription uses up points, so it has to end with them. */
  usesPoints(): void {
    this.#usesPoints = true;
    this.#settleWithin(STATED_POINTS_SETTLEMENT_MS);
  }

  /**
   * Ends open operations. `byUpstream`: the upstream broke them off; those unanswered then cost nothing that isn't
   * settled already. So all are ended before any is settled: a settlement takes in whatever is open.
   */
  end(operations: readonly Operation[], byUpstream = false): void {
    const nowMs = performance.now();
    let isOwed = false;
    for (const operation of operations) {
      operation.ended = true;
      this.#all.delete(operation);
      this.#forgetId(operation);
      operation.lease?.release();
      operation.call?.lease.release();
      const { meter, answered } = operation;
      const isFree = byUpstream && !answered && meter?.isSettled() !== true;
      if (meter === null || isFree) continue;
      this.#owe(meter.takeSlice(nowMs));
      isOwed = true;
    }
    // A refused one must not settle the others: a flood of refusals would be one of settlements.
    if (isOwed) this.#settle(nowMs);
  }

  settleWhenDue(nowMs: number): void {
    if (nowMs >= this.#settleAtMs) this.#settle(nowMs);
  }

  /** Settles all that is owed, whatever is on its way already. */
  settleFinally(): void {
    void this.#settleNow(performance.now());
  }

  /** From now on another payer entitlement holds; what was used until now goes to the former one. */
  refreshPayer(next: PayerEntitlement): void {
    const former = this.#payer;
    if (next.periodId !== former.periodId || next.payerId !== former.payerId) this.settleFinally();
    this.#payer = next;
    this.#pointsLeft = Infinity;
    // The next settlement holds what was used to the limits of now.
    if (this.#all.size > 0) this.#settleAtMs = 0;
    if (isSameSlot(former, next)) return;
    for (const operation of this.#all) {
      if (operation.lease !== null) void this.#moveSlot(operation);
    }
  }

  /** A slot among the open subscriptions, of whoever pays when it is given. */
  async #takeSlot(operation: Operation): Promise<boolean> {
    for (;;) {
      const asked = this.#payer;
      const { lease } = await this.#options.admit(asked, 'subscription');
      if (!operation.ended && isSameSlot(asked, this.#payer)) {
        operation.lease = lease;
        return true;
      }
      lease.release();
      if (operation.ended) return false;
    }
  }

  async #moveSlot(operation: Operation): Promise<void> {
    operation.lease?.release();
    operation.lease = null;
    try {
      await this.#takeSlot(operation);
    } catch (error) {
      if (!operation.ended) this.#options.onRefused(operation, toProblem(error));
    }
  }

  #forgetId(operation: Operation): void {
    if (this.#byId.get(operation.id) === operation) this.#byId.delete(operation.id);
  }

  #settleWithin(timeMs: number): void {
    const withinMs = Math.min(timeMs, this.#options.settleIntervalMs);
    this.#settleAtMs = Math.min(this.#settleAtMs, performance.now() + withinMs);
  }

  /** One settlement of a socket is on its way at a time: while Redis is away, usage adds up here. */
  #settle(nowMs: number): void {
    if (this.#onTheirWay > 0) this.#settleAgain = true;
    else void this.#settleNow(nowMs);
  }

  async #settleNow(nowMs: number): Promise<void> {
    const event = this.#takeOwed(nowMs);
    if (event === null) return;
    this.#settleAgain = false;
    this.#onTheirWay += 1;
    const usage = await this.#options.record(event);
    this.#onTheirWay -= 1;
    this.#onRecorded(usage, event.period_id);
    if (this.#hasMoreToSettle()) this.#settle(performance.now());
  }

  /** A function of its own, because the compiler believes that a member is still what it was before a wait. */
  #hasMoreToSettle(): boolean {
    return this.#settleAgain;
  }

  #owe({ points, requests, timeMs }: ReturnType<OperationMeter['takeSlice']>): void {
    const owed = this.#owed;
    this.#owed = {
      points: owed.points + points,
      requests: owed.requests + requests,
      timeMs: owed.timeMs + timeMs,
      trafficBytes: owed.trafficBytes,
    };
  }

  #takeOwed(nowMs: number): UntimedUsage | null {
    for (const { meter } of this.#all) if (meter !== null) this.#owe(meter.takeSlice(nowMs));
    this.#settleAtMs = Infinity;
    const { points, requests, timeMs, trafficBytes } = this.#owed;
    this.#owed = NOTHING;
    if (points + requests + timeMs + trafficBytes === 0) return null;
    return usageEvent(
      { token: this.#options.token, payer: this.#payer },
      { points, requests, time_ms: timeMs, traffic_bytes: trafficBytes },
    );
  }

  #onRecorded(live: LiveUsage | null, periodId: number): void {
    const { settleIntervalMs, pointsPerMinute, prime, onExhausted } = this.#options;
    const { payerId, limits } = this.#payer;
    let metered = 0;
    for (const { meter } of this.#all) if (meter !== null) metered += 1;
    if (metered === 0) return;
    this.#settleWithin(settleIntervalMs);
    if (periodId !== this.#payer.periodId) return;
    if (live === null) {
      // Lost with Redis' data: without them no limit could be held.
      prime(periodId, payerId).catch(() => undefined);
      return;
    }
    this.#pointsLeft = limits.points_limit === null ? Infinity : limits.points_limit - live.points;
    const exhausted = exhaustedLimit(limits, live, pointsPerMinute > 0 || this.#usesPoints);
    if (exhausted !== null) onExhausted(periodLimitExceeded(exhausted, this.#payer));
    else if (limits.time_sec_limit !== null) {
      // The last seconds are settled when these subscriptions have used them up, not up to an interval later.
      this.#settleWithin((limits.time_sec_limit * 1000 - live.time_ms) / metered);
    }
  }
}

const NOTHING = { points: 0, requests: 0, timeMs: 0, trafficBytes: 0 };
const FIRST_SETTLEMENT_MS = 1_000;
const STATED_POINTS_SETTLEMENT_MS = 1_000;

/** Whether a slot among the open subscriptions stays good. */
function isSameSlot(one: PayerEntitlement, other: PayerEntitlement): boolean {
  return one.payerId === other.payerId && one.limits.subscription_limit === other.limits.subscription_limit;
}
