import type { Pausable } from './read-control.ts';

export type PendingBytes = { add: (bytes: number) => void; remove: (bytes: number) => void };

/** Pauses the source while more than `maxBytes` wait: large operations could otherwise fill the memory. */
export function createPendingBytes(maxBytes: number, source: Pausable): PendingBytes {
  let pendingBytes = 0;
  let isPaused = false;
  return {
    add: (bytes) => {
      pendingBytes += bytes;
      if (isPaused || pendingBytes <= maxBytes) return;
      isPaused = true;
      source.pause();
    },
    remove: (bytes) => {
      pendingBytes -= bytes;
      if (!isPaused || pendingBytes > maxBytes / 2) return;
      isPaused = false;
      source.resume();
    },
  };
}
