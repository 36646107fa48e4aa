import { z } from 'zod';
import { emit } from '../double.ts';
import { read, route } from '../http/route.ts';
import type { Route } from '../http/route.ts';
import { newTestClock } from '../objects/test-clock.ts';
import { advance, removeClock } from '../payments/test-clocks.ts';
import { whole } from './input.ts';
import { getRoute, listRoute } from './list.ts';

const createSchema = z.object({ frozen_time: whole, name: z.string().max(300).optional() });
const advanceSchema = z.object({ frozen_time: whole });

const PATH = '/v1/test_helpers/test_clocks';

/** Of the customers that are made with one; `/sample/clock` moves the time of all others. */
export const TEST_CLOCKS: Route[] = [
  route(`POST ${PATH}`, ({ double, input }) => {
    const wanted = read(createSchema, input);
    const clock = double.store.add(newTestClock({ ...wanted, created: double.clock.now() }));
    emit(double, 'test_helpers.test_clock.created', clock);
    return clock;
  }),
  listRoute(PATH, 'test_helpers.test_clock'),
  getRoute(PATH, 'test_helpers.test_clock'),
  route(`POST ${PATH}/{id}/advance`, ({ double, id, input }) =>
    advance(double, double.store.get('test_helpers.test_clock', id), read(advanceSchema, input).frozen_time),
  ),
  route(`DELETE ${PATH}/{id}`, ({ double, id }) =>
    removeClock(double, double.store.get('test_helpers.test_clock', id)),
  ),
];
