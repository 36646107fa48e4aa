export type Sweep = {
  /** Changes nothing while it runs. */
  start: () => void;
  stop: () => void;
};

/** Calls `sweep` at an interval until it says that nothing is left: an idle process isn't woken. */
export function createSweep(intervalMs: number, sweep: () => boolean): Sweep {
  let timer: NodeJS.Timeout | undefined;

  function stop(): void {
    clearInterval(timer);
    timer = undefined;
  }

  return {
    start: () => {
      timer ??= setInterval(() => {
        if (!sweep()) stop();
      }, intervalMs).unref();
    },
    stop,
  };
}
