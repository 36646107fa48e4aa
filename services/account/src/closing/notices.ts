import { ENTITLEMENT_NOTICES } from '../billing/entitlements/publisher.ts';
import type { Query } from '../platform/database/query.ts';

/** How long changed entitlements wait for a notice, at most, while steps follow each other. */
const EVERY_MS = 100;

export type ClosingNotices = {
  /** After a step that is committed. */
  stepDone: () => Promise<void>;
  /** When no further step follows. */
  allDone: () => Promise<void>;
};

/**
 * Wakes the publishers of changed entitlements once for many steps: a notice in each of them would let them wait for each
 * other's writes (migration 0069). One that a crash loses delays its events until the publishers look again.
 */
export function createClosingNotices(query: Query): ClosingNotices {
  let isOwed = false;
  let sentAtMs = -Infinity;

  async function send(): Promise<void> {
    isOwed = false;
    sentAtMs = performance.now();
    await query(`NOTIFY ${ENTITLEMENT_NOTICES}`);
  }

  return {
    stepDone: async () => {
      isOwed = true;
      if (performance.now() - sentAtMs >= EVERY_MS) await send();
    },
    allDone: async () => {
      if (isOwed) await send();
    },
  };
}
