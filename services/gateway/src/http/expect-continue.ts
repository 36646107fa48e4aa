import type { IncomingMessage, ServerResponse } from 'node:http';

type Waiting = { res: ServerResponse; keepAlive: boolean };

const waiting = new WeakMap<IncomingMessage, Waiting>();

/**
 * Takes note of a request that waits for `100 Continue` before it sends its body (RFC 9110, section 10.1.1).
 * Refused before that, its body may or may not come: the connection can't be used again.
 */
export function deferContinue(req: IncomingMessage, res: ServerResponse): void {
  waiting.set(req, { res, keepAlive: res.shouldKeepAlive });
  res.shouldKeepAlive = false;
}

/** Tells a caller that waits with its body to send it. To be called by whoever is about to read it. */
export function askForBody(req: IncomingMessage): void {
  const entry = waiting.get(req);
  if (entry === undefined || entry.res.headersSent) return;
  waiting.delete(req);
  entry.res.shouldKeepAlive = entry.keepAlive;
  entry.res.writeContinue();
}
