import { newId } from '../ids.ts';

const KEPT_SEC = 30 * 86_400;

export function newTestClock(input: { created: number; frozen_time: number; name?: string | undefined }) {
  return {
    id: newId('clock'),
    object: 'test_helpers.test_clock' as const,
    created: input.created,
    deletes_after: input.created + KEPT_SEC,
    frozen_time: input.frozen_time,
    livemode: false,
    name: input.name ?? null,
    status: 'ready' as 'advancing' | 'ready',
    status_details: {},
  };
}

export type TestClock = ReturnType<typeof newTestClock>;
