import type { WebSocket } from 'ws';

/** One direction's end: where messages leave the gateway. */
export type Outlet = {
  send: (data: string | Buffer) => void;
  /** How long more than the bound has been waiting for the peer to read it; 0 while it keeps up. */
  stalledMs: (nowMs: number) => number;
  /** The socket has ended: its source is let go. */
  close: () => void;
};

/**
 * Sends on a socket, and stops its source while more than `bufferMaxBytes` wait for the peer. Beyond the bound
 * comes at most what the source had already read: one chunk of its connection, or one message.
 */
export function createOutlet(
  socket: WebSocket,
  bufferMaxBytes: number,
  source: { pause: () => void; resume: () => void },
): Outlet {
  let stalledSinceMs: number | null = null;

  function letGo(): void {
    if (stalledSinceMs === null) return;
    stalledSinceMs = null;
    source.resume();
  }

  function onWritten(): void {
    if (socket.bufferedAmount <= bufferMaxBytes / 2) letGo();
  }

  return {
    send: (data) => {
      socket.send(data, { binary: false }, onWritten);
      if (stalledSinceMs !== null || socket.bufferedAmount <= bufferMaxBytes) return;
      stalledSinceMs = performance.now();
      source.pause();
    },
    stalledMs: (nowMs) => (stalledSinceMs === null ? 0 : nowMs - stalledSinceMs),
    close: letGo,
  };
}
