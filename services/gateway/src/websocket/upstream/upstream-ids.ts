export type UpstreamIds = {
  /** The id under which an operation goes to the upstream. */
  take: (id: string) => string;
  /** The caller has ended it: of this id more may come. */
  stopped: (id: string) => void;
};

/** So many stopped ids of one connection are remembered; beyond them every operation gets a new one. */
const MAX_STOPPED = 100;
/** What new ids look like. A caller's own that look so are replaced, too: none can be taken for another's. */
const NEW_ID = /^#\d+$/;

/**
 * A caller may use an id again as soon as it has stopped its operation, while the upstream's last messages of
 * that are on their way. Taken for those of the new operation they would end it here, and it would go on there
 * uncounted. So an id that was stopped goes to the upstream as another one.
 */
export function createUpstreamIds(): UpstreamIds {
  const stopped = new Set<string>();
  let count = 0;
  return {
    take: (id) => {
      if (!stopped.has(id) && stopped.size < MAX_STOPPED && !NEW_ID.test(id)) return id;
      count += 1;
      return `#${String(count)}`;
    },
    stopped: (id) => {
      if (stopped.size < MAX_STOPPED) stopped.add(id);
    },
  };
}
