import { buffer } from 'node:stream/consumers';
import { isWhole } from '@tollgate/plain-http/message';
import type { HttpHandler, HttpRequest, HttpResponse } from '@tollgate/plain-http/message';
import { connectRaw } from '@tollgate/plain-http/raw-client';
import type { RawClient } from '@tollgate/plain-http/raw-client';
import { createListener } from '../../src/listener/listener.ts';
import type { Listener, ListenerOptions } from '../../src/listener/listener.ts';

const limits = { maxUrlBytes: 1_000, maxHeaderBytes: 4_096, maxHeaderCount: 20 };

let listener: Listener | undefined;

/** To be called after each test. */
export async function closeListener(): Promise<void> {
  await listener?.close({ idleGraceMs: 0, cutAfterMs: 0 });
}

/** Another connection to the same listener. */
export function connectAgain(): RawClient {
  if (listener === undefined) throw new Error('no listener is open');
  return connectRaw(listener.server);
}

export const openListener = (): Listener | undefined => listener;

export async function open(handler: HttpHandler, options: Partial<ListenerOptions> = {}): Promise<RawClient> {
  listener = createListener(handler, {
    name: 'public',
    host: '127.0.0.1',
    port: 0,
    setting: 'PUBLIC_PORT',
    limits,
    fastPath: { handlerOf: ({ url }) => (url.startsWith('/fast') ? handler : null) },
    ...options,
  });
  await listener.listen();
  return connectRaw(listener.server);
}

/** Calls back with the whole body, never if it is broken off. */
export function withBody(req: HttpRequest, next: (body: string) => void): void {
  if (isWhole(req)) next(String(req.wholeBody ?? ''));
  else
    buffer(req).then(
      (body) => {
        next(String(body));
      },
      () => undefined,
    );
}

export function sendEcho(req: HttpRequest, res: HttpResponse, body: string): void {
  const text = `[${isWhole(req) ? 'fast' : 'node'} ${String(req.url)} ${body}]`;
  res.writeHead(200, ['Content-Length', String(text.length)]);
  res.end(text, 'latin1');
}

/** Answers with the way that the request took, its target and its body. */
export const echo: HttpHandler = (req, res) => {
  withBody(req, (body) => {
    sendEcho(req, res, body);
  });
};

export const post = (url: string, body: string, fields = '') =>
  `POST ${url} HTTP/1.1\r\nHost: a\r\nContent-Length: ${String(body.length)}\r\n${fields}\r\n${body}`;

export const chunked = (url: string) =>
  `POST ${url} HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n`;

/** What the echoes on a connection say, in order. */
export const echoes = ({ received }: Pick<RawClient, 'received'>) =>
  [...received().matchAll(/\[([^\]]*)\]/g)].map(([, text]) => text);
