import type { IncomingMessage, ServerResponse } from 'node:http';
import { Pool } from 'undici';
import type { ServiceProcess } from '@tollgate/testbed/service-process';
import { startServer } from '../upstreams/server.ts';

/** What a caller saw of one call. Times are of performance.now(). */
export type Seen = {
  id: number;
  beganMs: number;
  endedMs: number;
  /** 0 without a complete response. */
  status: number;
  /** Of a refusal, or of the connection's failure. */
  code: string;
  points: number;
  bytes: number;
};

/** What the upstream did with one call. */
export type Served = { cameMs: number; answeredMs: number; points: number; bytes: number };

export type MeteredUpstream = {
  url: string;
  /** By call id, for the calls that arrived. */
  served: Map<number, Served>;
  /** Calls in flight now, and the most at any time. */
  busy: () => { now: number; most: number };
  close: () => Promise<void>;
};

/** Names a call to the suite's upstream. */
const CALL_ID = 'x-call-id';

/** An upstream that takes up to 4 ms for a call, charges what the suite says, and varies the size. */
export async function startMeteredUpstream(pointsOf: (id: number) => number): Promise<MeteredUpstream> {
  const served = new Map<number, Served>();
  let [now, most] = [0, 0];
  const answer = (req: IncomingMessage, res: ServerResponse) => {
    const id = Number(req.headers[CALL_ID]);
    const cameMs = performance.now();
    now += 1;
    most = Math.max(most, now);
    req.resume();
    setTimeout(() => {
      now -= 1;
      const points = pointsOf(id);
      const body = JSON.stringify({ data: { id, filler: 'x'.repeat(id % 97) } });
      served.set(id, { cameMs, answeredMs: performance.now(), points, bytes: body.length });
      // Both ways to delimit a response.
      const length = id % 2 === 0 ? { 'content-length': body.length } : {};
      res.writeHead(200, { 'content-type': 'application/json', 'x-points': String(points), ...length });
      res.end(body);
    }, id % 5);
  };
  const { url, close } = await startServer(answer);
  return { url: `${url}/graphql`, served, busy: () => ({ now, most }), close };
}

export type Caller = {
  /** One call, through the gateways in turn by its id; never rejects. */
  call: (id: number, token: string) => Promise<Seen>;
  close: () => Promise<void>;
};

/** Keep-alive connections to the gateways, as real clients have. */
export function openCaller(gateways: readonly ServiceProcess[], connections: number): Caller {
  const pools = gateways.map(({ publicUrl }) => new Pool(publicUrl, { connections }));
  return {
    call: async (id, token) => {
      const pool = pools[id % pools.length] as Pool;
      const beganMs = performance.now();
      try {
        const { statusCode, headers, body } = await pool.request({
          method: 'POST',
          path: '/graphql',
          headers: {
            authorization: `Bearer ${token}`,
            'content-type': 'application/json',
            [CALL_ID]: String(id),
          },
          body: '{"query":"{ id }"}',
        });
        const text = await body.text();
        const points = Number(headers['x-points-cost']);
        return {
          id,
          beganMs,
          ...ended(),
          status: statusCode,
          code: codeOf(text),
          points,
          bytes: text.length,
        };
      } catch (error) {
        const { code = 'unknown' } = error as NodeJS.ErrnoException;
        return { id, beganMs, ...ended(), status: 0, code, points: 0, bytes: 0 };
      }
    },
    close: async () => {
      await Promise.all(pools.map((pool) => pool.destroy()));
    },
  };
}

const ended = () => ({ endedMs: performance.now() });

function codeOf(body: string): string {
  const { errors } = JSON.parse(body) as { errors?: { extensions: { code: string } }[] };
  return errors?.[0]?.extensions.code ?? '';
}
