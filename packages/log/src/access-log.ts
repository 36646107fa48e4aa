import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { DestinationStream } from 'pino';
import { createLines } from './lines.ts';
import { loggedPath, redact } from './redact.ts';
import { REQUEST_ID_HEADER } from './request-id.ts';

export type AccessFacts = {
  request_id?: string;
  account_id?: number;
  application_id?: number;
  client_id?: string;
  /** Of the response to an upgrade request. */
  status?: number;
};

export type ObservedRequest = {
  method?: string | undefined;
  url?: string | undefined;
  rawHeaders: string[];
  socket: Socket;
};

type ObservedResponse = {
  readonly headersSent: boolean;
  readonly statusCode: number;
  getHeader: (name: string) => unknown;
  on: (event: 'close', listener: () => void) => unknown;
};

export type AccessLog = {
  /** Call it at the start of each request. */
  observe: (req: ObservedRequest, res: ObservedResponse) => void;
  /** For an upgrade request, whose line is written at the end of the connection. */
  observeUpgrade: (req: ObservedRequest, socket: Duplex) => void;
  note: (req: ObservedRequest, facts: AccessFacts) => void;
};

/** Writes one JSON line per finished request. `bytes` counts what the connection sent meanwhile, heads included. */
export function createAccessLog(
  service: string,
  destination: DestinationStream,
  addressOf: (req: ObservedRequest) => string,
): AccessLog {
  const lines = createLines(destination, redact);
  const noted = new WeakMap<ObservedRequest, AccessFacts>();

  function begin(req: ObservedRequest): (status: number | undefined) => void {
    const beganMs = performance.now();
    const { method, url = '', socket } = req;
    const address = addressOf(req);
    const before = socket.bytesWritten;
    return (status) => {
      const line = {
        time: new Date().toISOString(),
        service,
        log: 'access',
        method,
        path: loggedPath(url),
        status,
        duration_ms: Math.round(performance.now() - beganMs),
        bytes: socket.bytesWritten - before,
        address,
      };
      // The handler may note who called on the same event.
      setImmediate(() => {
        lines.writeSoon(`${JSON.stringify({ ...line, ...noted.get(req) })}\n`);
      });
    };
  }

  function note(req: ObservedRequest, facts: AccessFacts): void {
    noted.set(req, { ...noted.get(req), ...facts });
  }

  return {
    observe: (req, res) => {
      const ended = begin(req);
      res.on('close', () => {
        const requestId = res.getHeader(REQUEST_ID_HEADER);
        if (typeof requestId === 'string') note(req, { request_id: requestId });
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
