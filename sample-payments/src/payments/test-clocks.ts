import { emit } from '../double.ts';
import type { Double } from '../double.ts';
import { invalid } from '../http/failure.ts';
import type { Route } from '../http/route.ts';
import type { Subscription } from '../objects/billing.ts';
import type { TestClock } from '../objects/test-clock.ts';
import type { Store } from '../store.ts';
import { advanceSubscriptions, cancel, isOver } from './subscriptions.ts';
import { atTimeOf } from './time-of.ts';

/** Stripe's limit, in intervals of the shortest subscription (docs.stripe.com/api/test_clocks/advance). */
const MOST_INTERVALS = 2;

/** Such requests are about a customer's subscriptions and invoices, and happen at the time of the customer's clock. */
export function onTestClocks(routes: readonly Route[]): Route[] {
  return routes.map((route) => ({
    ...route,
    handle: (call) => {
      const customer = customerOf(call.double.store, call.id, call.input);
      return route.handle({
        ...call,
        double: customer === undefined ? call.double : atTimeOf(call.double, customer),
      });
    },
  }));
}

/** Of the object in the path, or of those that the parameters name. */
function customerOf(store: Store, id: string, input: unknown): string | undefined {
  const { customer, subscription } = input as { customer?: unknown; subscription?: unknown };
  if (id === '' && typeof customer === 'string') return customer;
  const object = store.lookUp(id === '' ? String(subscription) : id);
  return object !== undefined && 'customer' in object ? (object.customer ?? undefined) : undefined;
}

/** Renewals, drafts that are an hour old and ends follow. @throws {Failure} for a time before its own, or too far ahead */
export function advance(double: Double, clock: TestClock, to: number): TestClock {
  if (to <= clock.frozen_time) {
    throw invalid("The new time must be after the test clock's frozen time.", { param: 'frozen_time' });
  }
  for (const subscription of subscriptionsOf(double, clock)) {
    for (const { current_period_start: start, current_period_end: end } of subscription.items.data) {
      if (to <= clock.frozen_time + MOST_INTERVALS * (end - start)) continue;
      throw invalid('The new time is more than two intervals ahead of the shortest subscription.', {
        param: 'frozen_time',
      });
    }
  }
  clock.status = 'advancing';
  emit(double, 'test_helpers.test_clock.advancing', clock);
  const begun = { ...clock };
  clock.frozen_time = to;
  advanceSubscriptions(double);
  clock.status = 'ready';
  emit(double, 'test_helpers.test_clock.ready', clock);
  return begun;
}

/** With its customers. */
export function removeClock(double: Double, clock: TestClock) {
  for (const customer of double.store.all('customer')) {
    if (customer.test_clock === clock.id) removeCustomer(double, customer.id);
  }
  double.store.remove(clock.id);
  emit(double, 'test_helpers.test_clock.deleted', clock);
  return { id: clock.id, object: clock.object, deleted: true };
}

/** Its subscriptions end, and drafts are gone with it. */
export function removeCustomer(double: Double, id: string) {
  const { store } = double;
  const customer = store.get('customer', id);
  for (const subscription of store.all('subscription')) {
    if (subscription.customer === id && !isOver(subscription)) {
      cancel(atTimeOf(double, id), subscription, 'cancellation_requested');
    }
  }
  for (const invoice of store.all('invoice')) {
    if (invoice.customer === id && invoice.status === 'draft') store.remove(invoice.id);
  }
  store.remove(id);
  emit(double, 'customer.deleted', customer);
  return { id, object: customer.object, deleted: true };
}

function subscriptionsOf({ store }: Double, { id }: TestClock): Subscription[] {
  return store.all('subscription').filter((one) => one.test_clock === id && !isOver(one));
}
