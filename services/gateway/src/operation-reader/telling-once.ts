/**
 * `load` for use again and again: a failure is told once, not each time that it repeats, and again after a success or
 * another failure. Never rejects.
 */
export function tellingOnce(load: () => Promise<void>, tell: (error: unknown) => void): () => Promise<void> {
  let told: string | undefined;
  return async () => {
    try {
      await load();
      told = undefined;
    } catch (error) {
      const message = String(error);
      if (message !== told) tell(error);
      told = message;
    }
  };
}
