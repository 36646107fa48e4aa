import { answerOk } from '../gateway.ts';
import type { Handler } from '../gateway.ts';
import { startServer } from './server.ts';
import type { TestServer } from './server.ts';

/** An address of an upstream that can go away and come back. */
export type UpstreamServer = {
  url: string;
  origin: string;
  /** Targets of the requests that came, in order. */
  requests: string[];
  /** Sets the behaviour from now on. */
  does: (handler: Handler) => void;
  goAway: () => Promise<void>;
  comeBack: () => Promise<void>;
};

export async function startUpstreamServer(path: string): Promise<UpstreamServer> {
  let handler = answerOk;
  const requests: string[] = [];
  const record: Handler = (req, res) => {
    requests.push(req.url ?? '');
    handler(req, res);
  };
  let server: TestServer | null = await startServer(record);
  const { url, port } = server;
  return {
    url: url + path,
    origin: url,
    requests,
    does: (next) => {
      handler = next;
    },
    goAway: async () => {
      await server?.close();
      server = null;
    },
    comeBack: async () => {
      server ??= await startServer(record, port);
    },
  };
}
