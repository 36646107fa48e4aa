import type { Socket } from 'node:net';

/** After a reset, known by its code, undici takes a response that ends with its connection for complete. */
export function failByReset(socket: Socket): void {
  socket.prependListener('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'ECONNRESET') error.code = 'UPSTREAM_RESET';
  });
}
