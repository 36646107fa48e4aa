/** Bytes of operations that wait for their admission or for the upstream. */
export type WaitingBytes = { add: (bytes: number) => void; remove: (bytes: number) => void };

/** Stops their source while more than `maxBytes` wait: a caller could else fill the memory with large operations. */
export function createWaitingBytes(
  maxBytes: number,
  source: { pause: () => void; resume: () => void },
): WaitingBytes {
  let waiting = 0;
  let isPaused = false;
  return {
    add: (bytes) => {
      waiting += bytes;
      if (isPaused || waiting <= maxBytes) return;
      isPaused = true;
      source.pause();
    },
    remove: (bytes) => {
      waiting -= bytes;
      if (!isPaused || waiting > maxBytes / 2) return;
      isPaused = false;
      source.resume();
    },
  };
}
