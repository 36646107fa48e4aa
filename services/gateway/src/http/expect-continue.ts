import type { IncomingMessage, ServerResponse } from 'node:http';

type Waiting = { res: ServerResponse; keepAlive: boolean };

const waiting = new WeakMap<IncomingMessage, Waiting>();

/** For a request that waits for `100 Continue`. If it is refused, its body may yet follow, so its connection ends. */
export function deferContinue(req: IncomingMessage, res: ServerResponse): void {
  waiting.set(req, { res, keepAlive: res.shouldKeepAlive });
  res.shouldKeepAlive = false;
}

/** Sends `100 Continue` to a caller that waits for it. Must be called before the body is read. */
export function askForBody(req: IncomingMessage): void {
  const entry = waiting.get(req);
  if (entry === undefined || entry.res.headersSent) return;
  waiting.delete(req);
  entry.res.shouldKeepAlive = entry.keepAlive;
  entry.res.writeContinue();
}
