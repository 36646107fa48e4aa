export type UpstreamIds = {
  take: (id: string) => string;
  /** The caller has stopped it; late messages may still come under this id. */
  stopped: (id: string) => void;
};

/** Stopped ids remembered per connection; beyond them, every operation gets a new id. */
const MAX_STOPPED = 100;
/** New ids look like this; a caller's own ids of this form are replaced too, so that they can't clash. */
const NEW_ID = /^#\d+$/;

/**
 * Replaces an id that a caller has stopped and reuses: late messages of the stopped operation would otherwise be taken
 * for the new one's, and end it here while it goes on uncounted at the upstream.
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
