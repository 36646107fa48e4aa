import type { Double } from '../double.ts';

/** For what happens to a customer: at the time of the test clock that it is on, if it is on one. */
export function atTimeOf(double: Double, customerId: string): Double {
  const customer = double.store.lookUp(customerId);
  if (customer?.object !== 'customer' || customer.test_clock === null) return double;
  const { frozen_time } = double.store.get('test_helpers.test_clock', customer.test_clock);
  return { ...double, clock: { ...double.clock, now: () => frozen_time } };
}
