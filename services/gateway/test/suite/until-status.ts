import { expect } from '@jest/globals';
import { waitFor } from '@tollgate/stack/wait-for';

/**
 * Asks without a pause until the status is `wanted`; until then it is one of `meanwhile`. (What fails within a wait's
 * condition is tried again, so it asserts nothing.)
 */
export async function untilStatus(
  ask: () => Promise<number>,
  wanted: number,
  meanwhile: readonly number[],
): Promise<void> {
  const seen = new Set<number>();
  await waitFor(
    async () => {
      const status = await ask();
      seen.add(status);
      return status === wanted;
    },
    { intervalMs: 0 },
  );
  seen.delete(wanted);
  expect([...seen].filter((status) => !meanwhile.includes(status))).toEqual([]);
}
