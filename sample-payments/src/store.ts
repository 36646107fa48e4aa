import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import type { Clock } from './clock.ts';
import { missing } from './http/failure.ts';
import { keptKeys } from './idempotency.ts';
import type { Remembered } from './idempotency.ts';
import type { Invoice, InvoiceItem, InvoicePayment, Subscription } from './objects/billing.ts';
import type { Customer, Price, Product } from './objects/catalogue.ts';
import type { CheckoutSession, SessionTerms } from './objects/checkout-session.ts';
import type { StripeEvent } from './objects/event.ts';
import type { Charge, Dispute, PaymentIntent, PaymentMethod, Refund } from './objects/payments.ts';
import type { PortalConfiguration, PortalSession } from './objects/portal.ts';
import type { SetupIntent } from './objects/setup-intent.ts';
import type { TestClock } from './objects/test-clock.ts';

type Stored =
  | Charge
  | CheckoutSession
  | Customer
  | Dispute
  | Invoice
  | InvoiceItem
  | InvoicePayment
  | PaymentIntent
  | PaymentMethod
  | PortalConfiguration
  | PortalSession
  | Price
  | Product
  | Refund
  | SetupIntent
  | StripeEvent
  | Subscription
  | TestClock;

export type Kind = Stored['object'];
type Of<K extends Kind> = Extract<Stored, { object: K }>;

type State = {
  objects: Stored[];
  terms: Record<string, SessionTerms>;
  keys: Record<string, Remembered>;
  clockOffset: number;
};

export type Store = {
  add: <T extends Stored>(object: T) => T;
  remove: (id: string) => void;
  /** Any kind, for `expand`. */
  lookUp: (id: string) => Stored | undefined;
  /** @throws {Failure} resource_missing */
  get: <K extends Kind>(kind: K, id: string, param?: string) => Of<K>;
  /** Newest first, as Stripe lists. */
  all: <K extends Kind>(kind: K) => Of<K>[];
  terms: Record<string, SessionTerms>;
  keys: Record<string, Remembered>;
  clockOffset: number;
  /** To the file, if there is one. */
  save: (clock: Clock) => void;
};

/** Everything in memory, in the order of creation; `path` keeps it over restarts. */
export function createStore(path: string | null): Store {
  const state = stateOf(path);
  const objects = new Map(state.objects.map((object) => [object.id, object]));
  return {
    add: (object) => {
      objects.set(object.id, object);
      return object;
    },
    remove: (id) => {
      objects.delete(id);
    },
    lookUp: (id) => objects.get(id),
    get: (kind, id, param) => {
      const found = objects.get(id);
      if (found?.object !== kind) throw missing(kind, id, param);
      return found as Of<typeof kind>;
    },
    all: (kind) =>
      [...objects.values()].filter((object) => object.object === kind).reverse() as Of<typeof kind>[],
    terms: state.terms,
    keys: state.keys,
    clockOffset: state.clockOffset,
    save: (clock) => {
      if (path === null) return;
      const kept: State = {
        objects: [...objects.values()],
        terms: state.terms,
        keys: keptKeys(state.keys, clock.now()),
        clockOffset: clock.offset(),
      };
      writeFileSync(`${path}.new`, JSON.stringify(kept), { mode: 0o600 });
      renameSync(`${path}.new`, path);
    },
  };
}

function stateOf(path: string | null): State {
  if (path !== null && existsSync(path)) return JSON.parse(readFileSync(path, 'utf8')) as State;
  return { objects: [], terms: {}, keys: {}, clockOffset: 0 };
}
