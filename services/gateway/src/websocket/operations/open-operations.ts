import type { Admit } from '../../pipeline/admit/admit.ts';
import type { Lease, LeaseEntry } from '../../ledger/leases.ts';
import type { PayerEntitlement } from '../../ledger/principal.ts';
import { createReservePoints } from '../../pipeline/admit/reserve-points.ts';
import { createChargeEvent } from '../../streams/charged-events.ts';
import type { ChargedEventsOptions, ChargeEvent } from '../../streams/charged-events.ts';
import { OpenSubscriptions, newSubscription } from '../../streams/open-subscriptions.ts';
import type { OpenSubscriptionsOptions, Subscription } from '../../streams/open-subscriptions.ts';
import type { Principal } from '../../ledger/principal.ts';
import type { CountedOperation } from '../../operation-reader/counted-operation.ts';
import type { OperationType } from '../../operation-reader/document-types.ts';
import type { OperationTrace, TracedEnd } from '../../trace/socket-trace.ts';
import type { Problem } from '@tollgate/http/problem';

export type OperationState = 'opening' | 'sent' | 'answered' | 'completed' | 'abandoned' | 'ended';

/** Only OpenOperations writes it. An operation of unknown type is held to what either type is held to. */
export type Operation = Readonly<{
  id: string;
  type: OperationType;
  /** What its usage is counted by; null if it isn't known. */
  counted: CountedOperation | null;
  name: string | null;
  trace: OperationTrace | null;
  startedMs: number;
  state: OperationState;
  /** Null while it is opening. */
  upstreamId: string | null;
  sentMs: number;
  /** If it may be a query or mutation, from its admission on; the lease is null once it is given back. */
  call: Readonly<{
    lease: Lease | null;
    payer: PayerEntitlement;
    reservedPoints: number;
    /** What further results without a stated price may cost; Infinity unless points are reserved. */
    mostUnstatedPoints: number;
  }> | null;
  /** If it may be a subscription; written by OpenSubscriptions alone. */
  subscription: Subscription | null;
  /** What it costs if the upstream states nothing; null for the default. */
  estimatedPoints: number | null;
  /** Whether its price is known, so that no part of its result costs the default. */
  hasPrice: boolean;
}>;

export type NewOperation = Pick<Operation, 'id' | 'type' | 'counted' | 'name' | 'trace' | 'estimatedPoints'>;

/** What admission and metering take, the same for all sockets. */
export type OperationMetering = Pick<
  OpenSubscriptionsOptions<Subscription>,
  'admit' | 'record' | 'primePayer' | 'readPointsLeft' | 'settleIntervalMs' | 'pointsPerMinute'
> &
  Pick<ChargedEventsOptions<Subscription>, 'settlementTimeout'>;

export type OpenOperationsOptions = {
  metering: OperationMetering;
  principal: Principal;
  /** A limit of the period is used up: the subscriptions have to end. */
  onExhausted: (problem: Problem) => void;
  /** Under the entitlement in force it gets no slot, or its next event isn't covered: it has to end. */
  onSlotLost: (operation: Operation, problem: Problem) => void;
  onOperations: (change: 1 | -1) => void;
};

type Changing = { -readonly [Key in keyof Operation]: Operation[Key] };

/** The first settlement tells how much of the period is left, so it comes soon. */
const FIRST_SETTLEMENT_MS = 1_000;

/**
 * The operations of one socket: their only registry, and the only place that changes their states.
 *
 * | state       | the operation                                            | found by its id of   |
 * | ----------- | -------------------------------------------------------- | -------------------- |
 * | `opening`   | is being admitted, or waits for the upstream             | the caller           |
 * | `sent`      | is at the upstream and has no answer                     | the caller, upstream |
 * | `answered`  | has an answer; further messages may come                 | the caller, upstream |
 * | `completed` | has its last message, which waits until it is recorded   | the caller           |
 * | `abandoned` | is carried out for a caller that has left, who pays      | the upstream         |
 * | `ended`     | holds no slot, and nothing more is charged or passed on  | no one               |
 *
 * | transition               | who causes it                                                                 |
 * | ------------------------ | ----------------------------------------------------------------------------- |
 * | `open`: `opening`        | the caller starts it                                                          |
 * | `sent`: from `opening`   | the gateway: it is admitted, and the upstream is ready                        |
 * | `answered`: from `sent`  | the upstream, by its first message                                            |
 * | `completed`: `answered`  | the upstream, by the last message of what may be a query or mutation          |
 * | `abandon`: from `sent`   | the caller stops what may be a query or mutation, or its socket closes        |
 * | `end`: from any          | the caller stops it, or its socket closes; the upstream ends it or breaks off; |
 * |                          | the gateway refuses it, or has passed on its last message                     |
 *
 * Any other transition throws. Slots are taken while it is opening; each is given back once, at the latest by `end`.
 */
export class OpenOperations {
  readonly subscriptions: OpenSubscriptions<Subscription>;
  /** Of a payer whose points are strict. */
  readonly chargeEvent: ChargeEvent<Subscription>;
  readonly #admit: Admit;
  readonly #onOperations: OpenOperationsOptions['onOperations'];
  readonly #all = new Set<Operation>();
  readonly #byCallersId = new Map<string, Operation>();
  readonly #byUpstreamsId = new Map<string, Operation>();

  constructor({ metering, principal, onExhausted, onSlotLost, onOperations }: OpenOperationsOptions) {
    this.#admit = metering.admit;
    this.#onOperations = onOperations;
    const onLost = (subscription: Subscription, problem: Problem) => {
      for (const one of this.#all) if (one.subscription === subscription) onSlotLost(one, problem);
    };
    this.subscriptions = new OpenSubscriptions({ ...metering, principal, onExhausted, onSlotLost: onLost });
    this.chargeEvent = createChargeEvent({
      ...metering,
      principal: () => this.subscriptions.principal,
      reserve: createReservePoints(metering.admit),
      onUncovered: onLost,
    });
  }

  get size(): number {
    return this.#all.size;
  }

  all(): Operation[] {
    return [...this.#all];
  }

  /** Those that the upstream works on, as far as the gateway knows. */
  underWay(): Operation[] {
    return [...this.#byUpstreamsId.values()];
  }

  ofCaller(id: string): Operation | undefined {
    return this.#byCallersId.get(id);
  }

  ofUpstream(upstreamId: string): Operation | undefined {
    return this.#byUpstreamsId.get(upstreamId);
  }

  open(opened: NewOperation): Operation {
    const operation: Operation = {
      ...opened,
      startedMs: performance.now(),
      state: 'opening',
      upstreamId: null,
      sentMs: Infinity,
      call: null,
      subscription: maySubscribe(opened.type) ? newSubscription(opened.counted) : null,
      hasPrice: false,
    };
    this.#all.add(operation);
    this.#byCallersId.set(operation.id, operation);
    this.#onOperations(1);
    return operation;
  }

  /** Takes its slots, and the points of a call or an event; an unknown type needs both. False if it has ended meanwhile. @throws {Problem} of admission. */
  async admit(operation: Changing, points: number): Promise<boolean> {
    if (operation.type !== 'subscription') {
      const { payer } = this.subscriptions.principal;
      const { lease } = await this.#admit(payer, 'call', 1, points);
      if (hasEnded(operation)) lease.release();
      else {
        const { reservesPoints } = payer;
        const mostUnstatedPoints = reservesPoints ? points : Infinity;
        operation.call = { lease, payer, reservedPoints: reservesPoints ? points : 0, mostUnstatedPoints };
      }
    }
    if (hasEnded(operation)) return false;
    return operation.subscription === null || this.subscriptions.takeSlot(operation.subscription, points);
  }

  /** From now on a subscription's time runs. */
  sent(operation: Changing, upstreamId: string): void {
    move(operation, 'opening', 'sent');
    operation.upstreamId = upstreamId;
    operation.sentMs = performance.now();
    this.#byUpstreamsId.set(upstreamId, operation);
    if (operation.subscription === null) return;
    this.subscriptions.begin(operation.subscription, operation.sentMs, FIRST_SETTLEMENT_MS);
  }

  answered(operation: Operation): void {
    move(operation, 'sent', 'answered');
  }

  priced(operation: Changing): void {
    operation.hasPrice = true;
  }

  /** A result without a stated price costs so much. */
  countUnstated(operation: Changing, points: number): void {
    const { call } = operation;
    if (points === 0 || call === null) return;
    operation.call = { ...call, mostUnstatedPoints: call.mostUnstatedPoints - points };
  }

  completed(operation: Operation): void {
    move(operation, 'answered', 'completed');
    forget(this.#byUpstreamsId, operation.upstreamId, operation);
  }

  abandon(operation: Operation): void {
    if (operation.call === null) throw new Error('a subscription has no price to wait for');
    move(operation, 'sent', 'abandoned');
    forget(this.#byCallersId, operation.id, operation);
  }

  /** The slot of a query or mutation, for the record of its usage that gives it back; null if there is none. */
  handOverSlot(operation: Changing): LeaseEntry | null {
    return takeCallLease(operation)?.handOver() ?? null;
  }

  /**
   * Ends those that have not ended, all before one is settled. If the upstream broke them off, unanswered ones cost
   * only what is settled already.
   */
  end(operations: readonly Operation[], end: TracedEnd, isBrokenOff = false): void {
    const ending = operations.filter((operation) => !hasEnded(operation));
    for (const operation of ending) {
      if (isBrokenOff && !isAnswered(operation) && operation.subscription !== null) {
        this.subscriptions.waive(operation.subscription);
      }
      move(operation, operation.state, 'ended');
      this.#all.delete(operation);
      forget(this.#byCallersId, operation.id, operation);
      forget(this.#byUpstreamsId, operation.upstreamId, operation);
      takeCallLease(operation)?.release();
    }
    this.subscriptions.end(ending.flatMap(({ subscription }) => subscription ?? []));
    for (const { trace } of ending) {
      trace?.end(end);
      this.#onOperations(-1);
    }
  }
}

const maySubscribe = (type: OperationType) => type === 'subscription' || type === 'unknown';

/** A function because the compiler keeps the narrowed type of a member across an await. */
export function hasEnded({ state }: Pick<Operation, 'state'>): boolean {
  return state === 'ended';
}

function isAnswered({ state }: Operation): boolean {
  return state === 'answered' || state === 'completed';
}

/** It may be a query or mutation that the upstream carries out, whose price isn't known yet. */
export function isUnanswered({ call, state }: Operation): boolean {
  return call !== null && (state === 'sent' || state === 'abandoned');
}

/** It may be a subscription, and no answer is owed for it: it can end at any time, and clients resume it. */
export function isResumable(operation: Operation): boolean {
  return operation.subscription !== null && !isUnanswered(operation);
}

/** A query or mutation whose caller waits for the rest of its result. */
export function isAwaitedCall(operation: Operation): boolean {
  const { state } = operation;
  if (state === 'opening' || state === 'abandoned') return false;
  return operation.subscription === null || isUnanswered(operation);
}

function move(operation: Changing, from: OperationState, to: OperationState): void {
  if (operation.state !== from || from === 'ended') {
    throw new Error(`an operation can't become ${to} from ${operation.state}`);
  }
  operation.state = to;
}

function takeCallLease(operation: Changing): Lease | null {
  const { call } = operation;
  if (call === null) return null;
  operation.call = { ...call, lease: null };
  return call.lease;
}

/** Another operation may have its id by now. */
function forget(index: Map<string, Operation>, id: string | null, operation: Operation): void {
  if (id !== null && index.get(id) === operation) index.delete(id);
}
