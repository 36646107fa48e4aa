import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { DestinationStream } from 'pino';
import { createLines } from './lines.ts';
import { loggedPath, redact } from './redact.ts';
import { REQUEST_ID_HEADER } from './request-id.ts';

/** What a request's line says that its head and its answer don't tell. */
export type AccessFacts = {
  request_id?: string;
  account_id?: number;
  application_id?: number;
  client_id?: string;
  /** Of the answer to an upgrade request. */
  status?: number;
};

export type AccessLog = {
  /** To be called at the start of each request. */
  observe: (req: IncomingMessage, res: ServerResponse) => void;
  /** The same of a request that asks for an upgrade; its line comes at the end of the connection. */
  observeUpgrade: (req: IncomingMessage, socket: Duplex) => void;
  /** Adds to a request's line, until it is written. */
  note: (req: IncomingMessage, facts: AccessFacts) => void;
};

/**
 * One line of JSON for each request of a listener, once it is over: `time, service, log: "access", method, path,
 * status, duration_ms, bytes, request_id, address`, and who called, as far as it is known. `bytes` are those that
 * were sent on the connection meanwhile, heads included.
 */
export function createAccessLog(
  service: string,
  destination: DestinationStream,
  addressOf: (req: IncomingMessage) => string,
): AccessLog {
  const lines = createLines(destination, redact);
  const noted = new WeakMap<IncomingMessage, AccessFacts>();

  function begin(req: IncomingMessage): (status: number | undefined) => void {
    const beganMs = performance.now();
    const { method, url = '', socket } = req;
    const address = addressOf(req);
    const before = socket.bytesWritten;
    return (status) => {
      const line = {
        time: new Date().toISOString(),
        ...{ service, log: 'access', method, path: loggedPath(url), status },
        duration_ms: Math.round(performance.now() - beganMs),
        bytes: socket.bytesWritten - before,
        address,
      };
      // A turn later: whoever serves the request learns of its end by the same event, and notes who called.
      setImmediate(() => {
        lines.writeSoon(`${JSON.stringify({ ...line, ...noted.get(req) })}\n`);
      });
    };
  }

  function note(req: IncomingMessage, facts: AccessFacts): void {
    noted.set(req, { ...noted.get(req), ...facts });
  }

  return {
    observe: (req, res) => {
      const ended = begin(req);
      res.on('close', () => {
        const requestId = res.getHeader(REQUEST_ID_HEADER);
        if (typeof requestId === 'string') note(req, { request_id: requestId });
        // Without a head there was no answer: the caller has gone.
        ended(res.headersSent ? res.statusCode : undefined);
      });
    },
    observeUpgrade: (req, socket) => {
      const ended = begin(req);
      socket.once('close', () => {
        ended(undefined);
      });
    },
    note,
  };
}
