import type { WebSocket } from 'ws';
import type { Pausable } from './read-control.ts';

export type SendBuffer = {
  send: (data: string | Buffer) => void;
  /** How long more than `maxBytes` have been waiting for the peer; 0 while it keeps up. */
  stalledMs: (nowMs: number) => number;
  close: () => void;
};

/** Pauses the source while more than `maxBytes` wait for the peer; one chunk or message may exceed that. */
export function createSendBuffer(socket: WebSocket, maxBytes: number, source: Pausable): SendBuffer {
  let stalledSinceMs: number | null = null;

  function resume(): void {
    if (stalledSinceMs === null) return;
    stalledSinceMs = null;
    source.resume();
  }

  function onWritten(): void {
    if (socket.bufferedAmount <= maxBytes / 2) resume();
  }

  return {
    send: (data) => {
      socket.send(data, { binary: false }, onWritten);
      if (stalledSinceMs !== null || socket.bufferedAmount <= maxBytes) return;
      stalledSinceMs = performance.now();
      source.pause();
    },
    stalledMs: (nowMs) => (stalledSinceMs === null ? 0 : nowMs - stalledSinceMs),
    close: resume,
  };
}
