import type { Admit } from '../../admission/admission.ts';
import { OpenSubscriptions } from '../../metering/open-subscriptions.ts';
import type { OpenSubscriptionsOptions } from '../../metering/open-subscriptions.ts';
import type { Problem } from '@tollgate/http/problem';
import { mayBeCall, mayBeSubscription, newOperation } from './operation.ts';
import type { NewOperation, Operation } from './operation.ts';

export type OperationsOptions = Omit<OpenSubscriptionsOptions<Operation>, 'onSlotLost' | 'apiVersion'> & {
  onRefused: (operation: Operation, problem: Problem) => void;
};

/** The first settlement tells how much of the period is left, so it comes soon. */
const FIRST_SETTLEMENT_MS = 1_000;

export class Operations {
  readonly subscriptions: OpenSubscriptions<Operation>;
  readonly #admit: Admit;
  readonly #all = new Set<Operation>();
  /** Those that their caller can still stop. */
  readonly #byId = new Map<string, Operation>();

  constructor({ onRefused, ...options }: OperationsOptions) {
    this.#admit = options.admit;
    this.subscriptions = new OpenSubscriptions({ ...options, onSlotLost: onRefused });
  }

  get size(): number {
    return this.#all.size;
  }

  get(id: string): Operation | undefined {
    return this.#byId.get(id);
  }

  all(): Operation[] {
    return [...this.#all];
  }

  add(added: NewOperation): Operation {
    const operation = newOperation(added);
    this.#all.add(operation);
    this.#byId.set(operation.id, operation);
    return operation;
  }

  abandon(operation: Operation): void {
    operation.abandoned = true;
    this.#forgetId(operation);
  }

  /** An unknown type is admitted as both. False if it has ended meanwhile. @throws {Problem} what admission throws. */
  async admit(operation: Operation): Promise<boolean> {
    if (mayBeCall(operation)) {
      const { payer } = this.subscriptions.principal;
      const { lease } = await this.#admit(payer, 'call', 1);
      operation.call = { lease, payer };
    }
    if (operation.ended) operation.call?.lease.release();
    else if (mayBeSubscription(operation)) return this.subscriptions.takeSlot(operation);
    return !operation.ended;
  }

  /** Once it is sent to the upstream, a subscription's time runs. */
  begin(operation: Operation): void {
    operation.sentMs = performance.now();
    if (mayBeSubscription(operation)) {
      this.subscriptions.begin(operation, operation.sentMs, FIRST_SETTLEMENT_MS);
    }
  }

  /** Ends open operations. If the upstream broke them off, unanswered ones cost only what is settled already. */
  end(operations: readonly Operation[], byUpstream = false): void {
    for (const operation of operations) {
      operation.ended = true;
      this.#all.delete(operation);
      this.#forgetId(operation);
      operation.call?.lease.release();
      if (byUpstream && !operation.answered) this.subscriptions.waive(operation);
    }
    this.subscriptions.end(operations);
  }

  #forgetId(operation: Operation): void {
    if (this.#byId.get(operation.id) === operation) this.#byId.delete(operation.id);
  }
}
