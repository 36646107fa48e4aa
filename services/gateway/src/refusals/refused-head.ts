import type { IncomingMessage } from 'node:http';
import type { OnRefusedHead } from '@tollgate/server/listener';
import { presentedToken } from '../http/bearer-token.ts';
import type { RecordRefusal, Refusal } from './refused-calls.ts';

/** Records data calls whose head the listener has refused, for instance for too long a URL. */
export function createOnRefusedHead(options: {
  record: RecordRefusal;
  addressOf: (req: IncomingMessage) => string;
  apiVersionOf: (req: IncomingMessage) => Refusal['apiVersion'] | null;
}): OnRefusedHead {
  return (req, { code, status, detail }, requestId) => {
    const apiVersion = options.apiVersionOf(req);
    if (apiVersion === null) return;
    options.record({
      requestId,
      kind: 'call',
      code,
      status,
      detail,
      apiVersion,
      active: null,
      payerId: null,
      token: presentedToken(req.rawHeaders),
      durationMs: 0,
      points: 0,
      operationName: () => null,
      address: options.addressOf(req),
    });
  };
}
