import autocannon from 'autocannon';
import { cpuMsOf } from './cores.ts';

/** One server of a part: what is sent to it again and again, as a form by POST or a GET, and whose CPU is read. */
export type Target = {
  pid: number;
  url: string;
  method?: 'GET';
  headers: Record<string, string>;
  body: string;
};

export type Round = {
  perSec: number;
  /** Share of one core that the server used, from 0 to 1. */
  serverCpu: number;
  /** The same of the load generator. */
  loadCpu: number;
};

export const CONNECTIONS = 32;

const FORM = { 'content-type': 'application/x-www-form-urlencoded' };

/**
 * As many requests as the server answers, over 32 kept-alive connections.
 *
 * @throws {Error} when one of them isn't answered with a 2xx: a refusal is faster than an answer.
 */
export async function fullLoad(target: Target, seconds: number): Promise<Round & { requests: number }> {
  const { pid, url, method = 'POST', headers, body } = target;
  const before = { at: performance.now(), server: cpuMsOf(pid), load: process.cpuUsage() };
  const result = await autocannon({
    ...{ url, method },
    headers: { ...(method === 'POST' ? FORM : {}), ...headers },
    body,
    connections: CONNECTIONS,
    duration: seconds,
  });
  const elapsedMs = performance.now() - before.at;
  const { user, system } = process.cpuUsage(before.load);
  const refused = result.non2xx + result.errors + result.timeouts;
  if (refused > 0) {
    throw new Error(`${String(refused)} of ${String(result.requests.total)} requests to ${url} failed`);
  }
  return {
    requests: result['2xx'],
    perSec: result['2xx'] / (elapsedMs / 1_000),
    serverCpu: (cpuMsOf(pid) - before.server) / elapsedMs,
    loadCpu: (user + system) / 1_000 / elapsedMs,
  };
}
