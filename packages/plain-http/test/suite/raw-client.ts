import { connect } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';

/** A connection on which a test sends whatever bytes it wants: HTTP, half of it, or none. */
export type RawClient = {
  socket: Socket;
  /** All that has come back, each byte a character. */
  received: () => string;
  /** How the connection has ended: `closed`, or the code of its error. Never rejects. */
  closed: Promise<string>;
};

/** Connects to a server, or to one's URL. `localAddress` is another one of this machine. */
export function connectRaw(to: string | Server, options: { localAddress?: string } = {}): RawClient {
  const socket = connect({ ...(typeof to === 'string' ? targetOf(to) : addressOf(to)), ...options });
  let received = '';
  let code = 'closed';
  socket.setEncoding('latin1').on('data', (chunk: string) => (received += chunk));
  socket.on('error', (error: NodeJS.ErrnoException) => {
    code = error.code ?? error.message;
  });
  const closed = new Promise<string>((resolve) => {
    socket.once('close', () => {
      resolve(code);
    });
  });
  return { socket, received: () => received, closed };
}

/** A busy machine takes its time. */
const FIRST_BYTE_MS = 15_000;

/**
 * Sends the bytes, of a text each character as one, and returns all that comes back until the server closes, with
 * `silenceMs` also until it is silent for so long after it has begun to answer. A server that refuses early may reset the connection; its response
 * still counts.
 * @throws {Error} if the server accepts no connection
 */
export async function exchangeRaw(
  to: string | Server,
  bytes: string | Buffer,
  { silenceMs = 0 }: { silenceMs?: number } = {},
): Promise<string> {
  const { socket, received, closed } = connectRaw(to);
  if (silenceMs > 0) {
    socket.setTimeout(FIRST_BYTE_MS, () => socket.destroy());
    socket.once('data', () => socket.setTimeout(silenceMs));
  }
  socket.write(bytes, 'latin1');
  if ((await closed) === 'ECONNREFUSED') throw new Error('the connection was refused');
  return received();
}

function targetOf(url: string): { host: string; port: number } {
  const { hostname, port } = new URL(url);
  return { host: hostname, port: Number(port) };
}

function addressOf(server: Server): { host: string; port: number } {
  return { host: '127.0.0.1', port: (server.address() as AddressInfo).port };
}
