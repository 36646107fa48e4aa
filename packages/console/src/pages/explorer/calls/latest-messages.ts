/** More would take an editor long to show. */
const SHOWN_MAX = 50;

/** The latest messages of a subscription, newest first, each under its number. */
export function latestMessages() {
  let count = 0;
  let latest: [name: string, message: unknown][] = [];
  const all = (): Record<string, unknown> => Object.fromEntries(latest);
  return {
    all,
    with: (message: unknown) => {
      count += 1;
      latest = [[`Message ${String(count)}`, message] as [string, unknown], ...latest].slice(0, SHOWN_MAX);
      return all();
    },
  };
}
