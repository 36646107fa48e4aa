import { createServer } from 'node:http';
import type { IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { StripeMock } from './judges.ts';
import { stripeDocument } from './stripe-document.ts';
import type { StripeDocument } from './stripe-document.ts';

export type JudgedPayments = {
  /** To call instead of the sample server. */
  url: string;
  /** What Stripe wouldn't have taken or sent. */
  faults: string[];
  document: StripeDocument;
  close: () => Promise<void>;
};

/**
 * Stands before the sample payment server: each request that it takes must pass stripe-mock, and each answer Stripe's
 * document.
 */
export async function judgePayments(target: string, mock: StripeMock): Promise<JudgedPayments> {
  const document = stripeDocument(mock.document);
  const faults: string[] = [];
  const server = createServer((req, res) => {
    void pass(req).then(({ status, headers, text }) => {
      res.writeHead(status, headers);
      res.end(text);
    });
  });

  async function pass(req: IncomingMessage) {
    const chunks: Buffer[] = [];
    for await (const chunk of req as AsyncIterable<Buffer>) chunks.push(chunk);
    const [method, address] = [req.method ?? 'GET', req.url ?? '/'];
    const path = address.split('?', 1)[0] ?? '';
    const init = {
      method,
      headers: headersOf(req),
      ...(chunks.length > 0 && { body: Buffer.concat(chunks) }),
    };
    const judged = path.startsWith('/v1/') ? await fetch(mock.url + address, init) : null;
    const verdict = await judged?.text();
    const response = await fetch(target + address, init);
    const text = await response.text();
    if (judged !== null && response.ok && !judged.ok) {
      faults.push(`${method} ${path}: stripe-mock says ${String(judged.status)} ${verdict ?? ''}`);
    }
    if (judged !== null && response.status !== 401) {
      faults.push(...document.checkResponse({ method, path }, response.status, JSON.parse(text)));
    }
    return { status: response.status, headers: Object.fromEntries(kept(response.headers)), text };
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${String(port)}`,
    faults,
    document,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const OF_THE_CONNECTION = new Set([
  'host',
  'connection',
  'content-length',
  'transfer-encoding',
  'keep-alive',
]);

function headersOf(req: IncomingMessage): Record<string, string> {
  const entries = Object.entries(req.headers).filter(([name]) => !OF_THE_CONNECTION.has(name));
  return Object.fromEntries(entries.map(([name, value]) => [name, String(value)]));
}

function kept(headers: Headers): [string, string][] {
  return [...headers].filter(([name]) => !OF_THE_CONNECTION.has(name) && name !== 'content-encoding');
}
