import type { WebSocket } from 'ws';

/** Whether a caller is read: not while anybody has reason to wait. */
export type Reading = { pause: () => void; resume: () => void; isPaused: () => boolean };

/** Each pause has its resume; the last one lets the socket go on. */
export function createReading(socket: Pick<WebSocket, 'pause' | 'resume'>, onResumed: () => void): Reading {
  let pauses = 0;
  return {
    pause: () => {
      pauses += 1;
      socket.pause();
    },
    resume: () => {
      pauses -= 1;
      if (pauses > 0) return;
      onResumed();
      socket.resume();
    },
    isPaused: () => pauses > 0,
  };
}
