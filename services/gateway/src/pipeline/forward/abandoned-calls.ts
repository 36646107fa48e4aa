/** Calls whose callers have gone, and whose price has not arrived (docs/design/settlement.md). */
export type AbandonedCalls = {
  add: (call: Abandoned) => void;
  delete: (call: Abandoned) => void;
  count: () => number;
  /** Resolves when there are none; after the given time the rest is given up. */
  end: (withinMs: number) => Promise<void>;
};

type Abandoned = { giveUp: () => void };

export function createAbandonedCalls(): AbandonedCalls {
  const calls = new Set<Abandoned>();
  let whenNone: (() => void) | undefined;
  return {
    add: (call) => {
      calls.add(call);
    },
    delete: (call) => {
      if (calls.delete(call) && calls.size === 0) whenNone?.();
    },
    count: () => calls.size,
    end: async (withinMs) => {
      if (calls.size === 0) return;
      const overdue = setTimeout(
        () => {
          for (const call of calls) call.giveUp();
        },
        Math.max(0, withinMs),
      );
      await new Promise<void>((resolve) => (whenNone = resolve));
      clearTimeout(overdue);
    },
  };
}
