import type { WebSocket } from 'ws';

export type Heartbeat = {
  seen: () => void;
  /** Pings; if nothing was received since the last ping, cuts the connection and returns false. */
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
