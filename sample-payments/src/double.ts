import type { Clock } from './clock.ts';
import type { Deliveries } from './deliveries.ts';
import { newEvent } from './objects/event.ts';
import type { Store } from './store.ts';

/** What every resource works with. */
export type Double = {
  store: Store;
  clock: Clock;
  /** Where the pages are. */
  origin: string;
  deliveries: Deliveries;
  /** Whether the API answers nothing but 503. */
  outage: { isOn: boolean };
  /** Of the request that is answered; null in what happens by itself. */
  request: { id: string | null; idempotency_key: string | null };
};

/** Stores an event and sends it. `previous`: what an update changed. */
export function emit(double: Double, type: string, object: object, previous?: object): void {
  const { store, clock, deliveries, request } = double;
  const event = newEvent({
    created: clock.now(),
    type,
    object,
    previous,
    pending_webhooks: deliveries.endpoints,
    request,
  });
  deliveries.send(store.add(event));
}
