/**
 * `load` for use again and again: a failure is told once, not each time that it repeats, and again after a success or
 * another failure. `run` never rejects. `ageSec` is the time since the last success; since the start if there was none.
 */
export function tellingOnce(
  load: () => Promise<void>,
  tell: (error: unknown) => void,
): { run: () => Promise<void>; ageSec: () => number } {
  let told: string | undefined;
  let succeededMs = performance.now();
  return {
    run: async () => {
      try {
        await load();
        succeededMs = performance.now();
        told = undefined;
      } catch (error) {
        const message = String(error);
        if (message !== told) tell(error);
        told = message;
      }
    },
    ageSec: () => (performance.now() - succeededMs) / 1_000,
  };
}
