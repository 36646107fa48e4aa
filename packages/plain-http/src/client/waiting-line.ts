import type { Holder } from './pool-request.ts';
import type { PlainExchange } from './plain/plain-exchange.ts';

export type WaitingLine = {
  readonly size: number;
  /** False if it found no place. */
  add: (exchange: PlainExchange) => boolean;
  remove: (exchange: PlainExchange) => void;
  /** Takes out the next request of a holder that may go on. */
  next: (mayGoOn: (holder: Holder) => boolean) => PlainExchange | undefined;
};

/**
 * Requests that wait for a connection: each holder's in their order, the holders in turn. When it is full, the longest
 * queue gives up its last request (longest queue drop: McKenney, "Stochastic Fairness Queueing", 1990), so that
 * none can keep the others out of it.
 */
export function createWaitingLine(max: number, dropped: (exchange: PlainExchange) => void): WaitingLine {
  const queues = new Map<Holder, Set<PlainExchange>>();
  let size = 0;

  function remove(exchange: PlainExchange): void {
    const { holder } = exchange.request;
    const queue = queues.get(holder);
    if (queue?.delete(exchange) !== true) return;
    size -= 1;
    if (queue.size === 0) queues.delete(holder);
  }

  function makeRoomFor(holder: Holder): boolean {
    let longest: Set<PlainExchange> | undefined;
    for (const queue of queues.values()) if (queue.size > (longest?.size ?? 0)) longest = queue;
    if (longest === undefined || longest.size <= (queues.get(holder)?.size ?? 0) + 1) return false;
    const last = [...longest].at(-1);
    if (last === undefined) return false;
    remove(last);
    dropped(last);
    return true;
  }

  return {
    get size() {
      return size;
    },
    add: (exchange) => {
      const { holder } = exchange.request;
      if (size >= max && !makeRoomFor(holder)) return false;
      const queue = queues.get(holder);
      if (queue === undefined) queues.set(holder, new Set([exchange]));
      else queue.add(exchange);
      size += 1;
      return true;
    },
    remove,
    next: (mayGoOn) => {
      for (const [holder, queue] of queues) {
        if (!mayGoOn(holder)) continue;
        const [first] = queue;
        if (first === undefined) continue;
        remove(first);
        // The other holders come before its next one.
        if (queues.delete(holder)) queues.set(holder, queue);
        return first;
      }
      return undefined;
    },
  };
}
