import type { Socket } from 'node:net';

/**
 * undici takes an answer that ends with its connection for complete, also where that is reset, which it knows by
 * the error's code. A reset leaves open what is missing, so the code becomes another one.
 */
export function failByReset(socket: Socket): void {
  socket.prependListener('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'ECONNRESET') error.code = 'UPSTREAM_RESET';
  });
}
