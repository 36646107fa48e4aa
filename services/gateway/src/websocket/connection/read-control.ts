import type { WebSocket } from 'ws';

export type Pausable = { pause: () => void; resume: () => void };

export type ReadControl = Pausable & { isPaused: () => boolean };

/** Lets several parties pause one socket: it is read again when each pause has been resumed. */
export function createReadControl(
  socket: Pick<WebSocket, 'pause' | 'resume'>,
  onResumed: () => void,
): ReadControl {
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
