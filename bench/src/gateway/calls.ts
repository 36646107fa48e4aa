import type { Servers } from '../servers.ts';
import type { Tools } from '../tools.ts';
import { createWrk } from '../load/wrk.ts';
import type { RunWrk, WrkRound } from '../load/wrk.ts';

/** A gateway, or the upstream itself. */
export type Door = { name: string; pid: number; url: string };

export type Calls = Pick<Door, 'pid' | 'url'> & { headers?: Readonly<Record<string, string>> };

export type RunCalls = (calls: Calls, load: Parameters<RunWrk>[1]) => Promise<WrkRound>;

/** wrk with small POSTs; several tokens are used in turn. */
export function createCalls(servers: Servers, tools: Tools, ...bearers: string[]): RunCalls {
  const wrk = createWrk(servers, tools);
  const body = '{"query":"{ country(code: \\"CH\\") { name capital } }"}';
  return ({ pid, url, headers }, load) =>
    wrk({ pid, url, headers: { 'content-type': 'application/json', ...headers }, body, bearers }, load);
}
