/** Calls whose callers have gone before the answer, and whose price is still to come. */
export type AbandonedCalls = {
  add: (call: Abandoned) => void;
  /** Its price has come, or never will. */
  delete: (call: Abandoned) => void;
  count: () => number;
  /** Resolves when there are none; those that are left after the given time are given up. */
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
