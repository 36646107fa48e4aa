import type { IncomingMessage } from 'node:http';
import type { OnRefusedHead } from '@tollgate/server/listener';
import { presentedToken } from './presented-token.ts';
import type { RecordRefusal, Refusal } from './refused-calls.ts';

/** Records calls of the data endpoint whose head the listener has refused, for instance for a URL that is too long. */
export function createOnRefusedHead(parts: {
  record: RecordRefusal;
  addressOf: (req: IncomingMessage) => string;
  /** Null for what is no call of the data endpoint. */
  apiVersionOf: (req: IncomingMessage) => Refusal['apiVersion'] | null;
}): OnRefusedHead {
  return (req, { code, status, detail }, requestId) => {
    const apiVersion = parts.apiVersionOf(req);
    if (apiVersion === null) return;
    parts.record({
      ...{ requestId, kind: 'call', code, status, detail, apiVersion },
      ...{ active: null, payerId: null, token: presentedToken(req.rawHeaders), durationMs: 0 },
      address: parts.addressOf(req),
    });
  };
}
