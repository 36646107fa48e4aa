import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

type Seen = { path: string; body: string; headers: IncomingMessage['headers'] };

export type BadServer = {
  url: string;
  /** Requests, in order. */
  seen: Seen[];
  /** Those of the token endpoint, and the others. */
  tokenRequests: () => number;
  calls: () => number;
  stop: () => Promise<void>;
};

type Respond = (res: ServerResponse, nth: number, seen: Seen) => unknown;

/** Tokens `t1`, `t2`, … that live for a day. */
export const issue: Respond = (res, nth) => {
  sendJson(res, 200, { access_token: `t${String(nth)}`, token_type: 'bearer', expires_in: 86_400 });
};

export const answer: Respond = (res) => {
  sendJson(res, 200, { data: { ok: true } }, { 'x-points-cost': '1' });
};

/** A server that misbehaves as told: `nth` counts the requests of a kind from 1 on. */
export async function startBadServer({
  token = issue,
  call = answer,
}: {
  token?: Respond;
  call?: Respond;
}): Promise<BadServer> {
  const seen: Seen[] = [];
  const isToken = ({ path }: Seen) => path === '/oauth2/token';
  const server = createServer((req, res) => {
    void text(req).then(
      (body) => {
        const one = { path: req.url ?? '', body, headers: req.headers };
        seen.push(one);
        const respond = isToken(one) ? token : call;
        respond(res, seen.filter((each) => isToken(each) === isToken(one)).length, one);
      },
      () => undefined,
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`,
    seen,
    tokenRequests: () => seen.filter(isToken).length,
    calls: () => seen.filter((one) => !isToken(one)).length,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => {
          resolve();
        });
        server.closeAllConnections();
      }),
  };
}

export function sendJson(
  res: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  res.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}

/** A refusal of a data call, as the gateway's. */
export function refuse(
  res: ServerResponse,
  status: number,
  code: string,
  headers: Record<string, string> = {},
): void {
  const extensions = { code, request_id: 'r1', limit: 10, remaining: 0 };
  sendJson(res, status, { errors: [{ message: 'Refused', extensions }] }, headers);
}
