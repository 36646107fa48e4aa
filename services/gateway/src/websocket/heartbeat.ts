import type { WebSocket } from 'ws';

/** Whether a peer is still there. */
export type Heartbeat = {
  /** Any sign of life. */
  seen: () => void;
  /** Pings, and true; cuts the connection, and false, where nothing has been seen since the last ping. */
  beat: () => boolean;
};

export function createHeartbeat(socket: Pick<WebSocket, 'ping' | 'terminate'>): Heartbeat {
  let alive = true;
  return {
    seen: () => {
      alive = true;
    },
    beat: () => {
      if (!alive) {
        socket.terminate();
        return false;
      }
      alive = false;
      socket.ping();
      return true;
    },
  };
}
