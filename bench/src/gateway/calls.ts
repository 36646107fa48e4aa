import type { Servers } from '../servers.ts';
import type { Tools } from '../tools.ts';
import { createWrk } from '../load/wrk.ts';
import type { RunWrk, WrkRound } from '../load/wrk.ts';

/** A gateway, or the upstream itself. */
export type Door = { name: string; pid: number; url: string };

export type RunCalls = (door: Pick<Door, 'pid' | 'url'>, load: Parameters<RunWrk>[1]) => Promise<WrkRound>;

/** wrk with small POSTs; several tokens are used in turn. */
export function createCalls(servers: Servers, tools: Tools, ...bearers: string[]): RunCalls {
  const wrk = createWrk(servers, tools);
  const call = {
    headers: { 'content-type': 'application/json' },
    body: '{"query":"{ country(code: \\"CH\\") { name capital } }"}',
    bearers,
  };
  return ({ pid, url }, load) => wrk({ pid, url, ...call }, load);
}
