import type { Socket } from 'node:net';
import { buildConnector, errors } from 'undici';

export type Connect = (onOpen: (socket: Socket) => void, onError: (error: Error) => void) => void;

export type ConnectOptions = {
  connectTimeoutMs: number;
  onConnected?: (seconds: number, socket: Socket) => void;
};

/** Opens connections to a server, by TCP or TLS, for HTTP/1.1. */
export function createConnect(
  { protocol, host, hostname, port }: URL,
  { connectTimeoutMs, onConnected }: ConnectOptions,
): Connect {
  // undici's own timer is up to a second late. Its type leaves out that it returns the socket.
  const connect = buildConnector({ timeout: 0, allowH2: false }) as (
    ...parameters: Parameters<buildConnector.connector>
  ) => Socket;
  // An IPv6 address has brackets in a URL only.
  const target = { protocol, host, hostname: hostname.replace(/^\[(.*)\]$/, '$1'), port };
  return (onOpen, onError) => {
    const beganMs = performance.now();
    const socket = connect(target, (...[error, opened]: Parameters<buildConnector.Callback>) => {
      clearTimeout(overdue);
      if (error !== null) {
        onError(error);
        return;
      }
      onConnected?.((performance.now() - beganMs) / 1000, opened);
      onOpen(opened);
    });
    const overdue = setTimeout(() => {
      socket.destroy(new errors.ConnectTimeoutError(`no connection within ${String(connectTimeoutMs)} ms`));
    }, connectTimeoutMs);
  };
}
