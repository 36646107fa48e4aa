import { once } from 'node:events';
import { connect } from 'node:net';
import type { Target } from './load.ts';

export type RawConnection = {
  /** @throws {Error} unless the response is a 2xx */
  exchange: () => Promise<undefined>;
  destroy: () => void;
};

const HEAD_END = '\r\n\r\n';

/** Repeats one request. Parses only the status and Content-Length, which must be present. */
export async function openConnection({
  url,
  headers,
  body,
}: Pick<Target, 'url' | 'headers' | 'body'>): Promise<RawConnection> {
  const { hostname, port, pathname, host } = new URL(url);
  const lines = Object.entries({
    host,
    'content-type': 'application/x-www-form-urlencoded',
    'content-length': String(Buffer.byteLength(body)),
    ...headers,
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  const request = Buffer.from(`POST ${pathname} HTTP/1.1\r\n${lines.join('')}\r\n${body}`);
  const socket = connect({ host: hostname, port: Number(port), noDelay: true });
  await once(socket, 'connect');

  let waiting: PromiseWithResolvers<undefined> | undefined;
  let received = '';
  const fail = (why: string) => {
    waiting?.reject(new Error(`${url} ${why}`));
    socket.destroy();
  };
  socket.setEncoding('latin1').on('data', (chunk: string) => {
    received += chunk;
    const headEnd = received.indexOf(HEAD_END);
    if (headEnd === -1) return;
    const length = /\r\ncontent-length: *(\d+)/i.exec(received.slice(0, headEnd + 2))?.[1];
    if (!received.startsWith('HTTP/1.1 2')) fail(`answered ${received.slice(0, 12)}`);
    else if (length === undefined) fail('answered without a length');
    else if (received.length >= headEnd + HEAD_END.length + Number(length)) {
      received = '';
      waiting?.resolve(undefined);
    }
  });
  socket.on('error', (error) => {
    fail(error.message);
  });
  socket.on('close', () => {
    fail('closed the connection');
  });
  return {
    exchange: () => {
      waiting = Promise.withResolvers();
      socket.write(request);
      return waiting.promise;
    },
    destroy: () => {
      socket.destroy();
    },
  };
}
