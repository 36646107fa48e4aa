import type { IncomingHttpHeaders } from 'node:http';
import type { GatewayUnderTest } from '../gateway.ts';
import { bodyOf } from './server.ts';

/** A request as the upstream got it. */
export type UpstreamSeen = {
  method: string;
  url: string;
  headers: IncomingHttpHeaders;
  rawHeaders: string[];
  body: Buffer;
};

/** Makes the upstream record requests, and answer them. */
export function watchUpstream(gateway: Pick<GatewayUnderTest, 'upstream'>): UpstreamSeen[] {
  const seen: UpstreamSeen[] = [];
  gateway.upstream((req, res) => {
    void bodyOf(req).then((body) => {
      const { method = '', url = '', headers, rawHeaders } = req;
      seen.push({ method, url, headers, rawHeaders, body });
      res.end('{"data":{}}');
    });
  });
  return seen;
}
