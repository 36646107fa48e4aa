import type { IncomingHttpHeaders } from 'node:http';
import { bodyOf, startServer } from './upstreams/server.ts';
import type { TestServer } from './upstreams/server.ts';
import type { Handler } from './gateway.ts';

/** A request as the stand-in for `service` got it. */
export type Seen = {
  service: string;
  method: string;
  url: string;
  headers: IncomingHttpHeaders;
  body: string;
};

export type RecordingStandIn = {
  url: string;
  /** Sets the response to requests that were read; null for a short 200. */
  answers: (handler: Handler | null) => void;
  goAway: () => Promise<void>;
  comeBack: () => Promise<void>;
};

/** A stand-in for the public listener of auth or account that adds each request to `seen`. */
export async function startRecordingStandIn(service: string, seen: Seen[]): Promise<RecordingStandIn> {
  let handler: Handler | null = null;
  const record: Handler = (req, res) => {
    void bodyOf(req).then((body) => {
      const { method = '', url = '', headers } = req;
      seen.push({ service, method, url, headers, body: body.toString() });
      if (handler === null) res.end(service);
      else handler(req, res);
    });
  };
  let server: TestServer = await startServer(record);
  const { url, port } = server;
  return {
    url,
    answers: (next) => {
      handler = next;
    },
    goAway: () => server.close(),
    comeBack: async () => {
      server = await startServer(record, port);
    },
  };
}
