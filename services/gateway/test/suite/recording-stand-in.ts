import type { IncomingHttpHeaders } from 'node:http';
import { bodyOf, startServer } from './upstreams/server.ts';
import type { TestServer } from './upstreams/server.ts';
import type { Handler } from './gateway.ts';

/** A request as a peer got it. */
export type Seen = {
  peer: string;
  method: string;
  url: string;
  headers: IncomingHttpHeaders;
  body: string;
};

export type RecordingPeer = {
  url: string;
  /** Sets the response to requests that were read; null for a short 200. */
  answers: (handler: Handler | null) => void;
  goAway: () => Promise<void>;
  comeBack: () => Promise<void>;
};

/** A stand-in for the public listener of auth or account that adds each request to `seen`. */
export async function startRecordingPeer(peer: string, seen: Seen[]): Promise<RecordingPeer> {
  let handler: Handler | null = null;
  const record: Handler = (req, res) => {
    void bodyOf(req).then((body) => {
      const { method = '', url = '', headers } = req;
      seen.push({ peer, method, url, headers, body: body.toString() });
      if (handler === null) res.end(peer);
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
