/** Starts the work, or joins the one under way for the same key. The result, or the failure, reaches all callers. */
export type SingleFlight<Key, Value> = (key: Key, work: () => Promise<Value>) => Promise<Value>;

export function createSingleFlight<Key, Value>(
  onCall?: (outcome: 'joined' | 'miss') => void,
): SingleFlight<Key, Value> {
  const inFlight = new Map<Key, Promise<Value>>();
  return (key, work) => {
    const pending = inFlight.get(key);
    onCall?.(pending === undefined ? 'miss' : 'joined');
    if (pending !== undefined) return pending;
    const started = work().finally(() => inFlight.delete(key));
    inFlight.set(key, started);
    return started;
  };
}
