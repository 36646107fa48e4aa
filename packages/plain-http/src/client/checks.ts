export type Checks = {
  /** Brings the next check forward, unless it comes within this time, counted from `nowMs` (performance.now()). */
  within: (ms: number, nowMs: number) => void;
};

/** Runs `check` again after the ms that it returns; Infinity for not at all. It holds no process open. */
export function createChecks(check: (nowMs: number) => number): Checks {
  let timer: NodeJS.Timeout | undefined;
  let nextAtMs = Infinity;

  function schedule(nowMs: number, ms: number): void {
    clearTimeout(timer);
    nextAtMs = nowMs + ms;
    if (ms < Infinity) timer = setTimeout(run, ms).unref();
  }

  function run(): void {
    const nowMs = performance.now();
    schedule(nowMs, check(nowMs));
  }

  return {
    within: (ms, nowMs) => {
      if (nextAtMs > nowMs + ms) schedule(nowMs, ms);
    },
  };
}
