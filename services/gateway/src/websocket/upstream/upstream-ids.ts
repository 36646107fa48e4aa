export type UpstreamIds = {
  take: (id: string) => string;
  /** The caller has stopped it; late messages may still come under this id. */
  stopped: (id: string) => void;
};

/** Stopped ids remembered per connection; beyond them, every operation gets a new id. */
const MAX_STOPPED = 100;
/** New ids look like this; a caller's own ids of this form are replaced too, so that they can't clash. */
const NEW_ID = /^#\d+$/;

/** Half a surrogate pair isn't Unicode: servers replace it, and their messages would come under another id. */
function goesAsItIs(id: string): boolean {
  return id.isWellFormed() && !NEW_ID.test(id);
}

/**
 * Replaces an id that a caller has stopped and reuses: late messages of the stopped operation would otherwise be taken
 * for the new one's, and end it here while it goes on uncounted at the upstream. So would messages of an operation whose
 * id a server writes in another way.
 */
export function createUpstreamIds(): UpstreamIds {
  const stopped = new Set<string>();
  let count = 0;
  return {
    take: (id) => {
      if (!stopped.has(id) && stopped.size < MAX_STOPPED && goesAsItIs(id)) return id;
      count += 1;
      return `#${String(count)}`;
    },
    stopped: (id) => {
      if (stopped.size < MAX_STOPPED) stopped.add(id);
    },
  };
}
