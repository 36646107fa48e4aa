import type { ActiveToken } from '@tollgate/contracts/introspection';
import { toProblem } from '@tollgate/problem';
import type { Problem } from '@tollgate/problem';
import type { Admit } from '../admission/admission.ts';
import type { Lease } from '../admission/leases.ts';
import { periodLimitExceeded } from '../admission/refused.ts';
import type { Charge } from '../entitle/entitle.ts';
import type { Prime } from '../live-usage/prime.ts';
import { exhaustedLimit } from '../settlement/exhausted-limit.ts';
import { usageEvent } from '../settlement/settle.ts';
import type { LiveUsage } from '../settlement/settle-script.ts';
import type { RecordUsage, UntimedUsage } from '../settlement/settlement.ts';
import { createOperationMeter } from '../settlement/operation-meter.ts';
import type { OperationMeter } from '../settlement/operation-meter.ts';
import type { OperationTrace } from '../trace/socket-trace.ts';

/** An operation that a caller has begun. It is open from its admission to the upstream's or caller's end of it. */
export type Operation = {
  id: string;
  /** What the upstream knows it by; null until it has been sent there. */
  upstreamId: string | null;
  /** Null until then, too. */
  meter: OperationMeter | null;
  lease: Lease | null;
  trace: OperationTrace | null;
  /** When its caller began it. */
  startedMs: number;
  /** The upstream has said something of it. */
  answered: boolean;
  ended: boolean;
};

export type OperationsOptions = {
  admit: Admit;
  record: RecordUsage;
  prime: Prime;
  token: ActiveToken;
  charge: Charge;
  settleIntervalMs: number;
  pointsPerMinute: number;
  /** A limit of the period is used up: the socket has to end. */
  onExhausted: (problem: Problem) => void;
  /** An open operation has lost its place. */
  onRefused: (operation: Operation, problem: Problem) => void;
};

/** What the operations of one socket hold, what they cost, and to whom it is charged. */
export class Operations {
  readonly #options: OperationsOptions;
  readonly #open = new Map<string, Operation>();
  #charge: Charge;
  /** Of ended operations, and bytes sent, since the last settlement. */
  #owed = NOTHING;
  #onTheirWay = 0;
  #settleAgain = false;
  #settleAtMs = Infinity;

  constructor(options: OperationsOptions) {
    this.#options = options;
    this.#charge = options.charge;
  }

  get size(): number {
    return this.#open.size;
  }

  get charge(): Charge {
    return this.#charge;
  }

  get(id: string): Operation | undefined {
    return this.#open.get(id);
  }

  all(): Operation[] {
    return [...this.#open.values()];
  }

  add(id: string, trace: OperationTrace | null): Operation {
    const operation: Operation = {
      id,
      upstreamId: null,
      lease: null,
      meter: null,
      trace,
      startedMs: performance.now(),
      answered: false,
      ended: false,
    };
    this.#open.set(id, operation);
    return operation;
  }

  /**
   * Admits an operation, at whoever pays when the place is given. False where the operation has ended meanwhile.
   * @throws {Problem} what admission throws.
   */
  async takePlace(operation: Operation): Promise<boolean> {
    for (;;) {
      const asked = this.#charge;
      const { lease } = await this.#options.admit(asked, 'subscription');
      if (!operation.ended && isSamePlace(asked, this.#charge)) {
        operation.lease = lease;
        return true;
      }
      lease.release();
      if (operation.ended) return false;
    }
  }

  /** It has been sent to the upstream: its time runs. */
  begin(operation: Operation): void {
    const nowMs = performance.now();
    operation.meter = createOperationMeter(nowMs, this.#options.pointsPerMinute);
    // The first settlement tells how much is left, so it comes soon.
    const soonMs = Math.min(FIRST_SETTLEMENT_MS, this.#options.settleIntervalMs);
    this.#settleAtMs = Math.min(this.#settleAtMs, nowMs + soonMs);
  }

  countTraffic(bytes: number): void {
    this.#owed = { ...this.#owed, trafficBytes: this.#owed.trafficBytes + bytes };
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
      this.#open.delete(operation.id);
      operation.lease?.release();
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

  /** From now on another charge holds; what was used until now goes to the former one. */
  recharge(next: Charge): void {
    const former = this.#charge;
    if (next.periodId !== former.periodId || next.payerId !== former.payerId) this.settleFinally();
    this.#charge = next;
    // The next settlement holds what was used to the limits of now.
    if (this.#open.size > 0) this.#settleAtMs = 0;
    if (isSamePlace(former, next)) return;
    for (const operation of this.#open.values()) {
      if (operation.lease !== null) void this.#moveToPlace(operation);
    }
  }

  async #moveToPlace(operation: Operation): Promise<void> {
    operation.lease?.release();
    operation.lease = null;
    try {
      await this.takePlace(operation);
    } catch (error) {
      if (!operation.ended) this.#options.onRefused(operation, toProblem(error));
    }
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
    for (const { meter } of this.#open.values()) if (meter !== null) this.#owe(meter.takeSlice(nowMs));
    const { points, requests, timeMs, trafficBytes } = this.#owed;
    this.#owed = NOTHING;
    if (points + requests + timeMs + trafficBytes === 0) return null;
    return usageEvent(
      { token: this.#options.token, charge: this.#charge },
      { points, requests, time_ms: timeMs, traffic_bytes: trafficBytes },
    );
  }

  #onRecorded(live: LiveUsage | null, periodId: number): void {
    const nowMs = performance.now();
    const { settleIntervalMs, pointsPerMinute, prime, onExhausted } = this.#options;
    const { payerId, limits } = this.#charge;
    const openOperations = this.#open.size;
    this.#settleAtMs = openOperations === 0 ? Infinity : nowMs + settleIntervalMs;
    if (openOperations === 0 || periodId !== this.#charge.periodId) return;
    if (live === null) {
      // Lost with Redis' data: without them no limit could be held.
      prime(periodId, payerId).catch(() => undefined);
      return;
    }
    const exhausted = exhaustedLimit(limits, live, pointsPerMinute > 0);
    if (exhausted !== null) onExhausted(periodLimitExceeded(exhausted, this.#charge));
    else if (limits.time_sec_limit !== null) {
      // The last seconds are settled when these operations have used them up, not up to an interval later.
      const leftMs = limits.time_sec_limit * 1000 - live.time_ms;
      this.#settleAtMs = nowMs + Math.min(settleIntervalMs, leftMs / openOperations);
    }
  }
}

const NOTHING = { points: 0, requests: 0, timeMs: 0, trafficBytes: 0 };
const FIRST_SETTLEMENT_MS = 1_000;

/** Whether a place among the open subscriptions stays good. */
function isSamePlace(one: Charge, other: Charge): boolean {
  return one.payerId === other.payerId && one.limits.subscription_limit === other.limits.subscription_limit;
}
