import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
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

/**
 * The generator's own cold start, with all its connections still to be opened: its first 100 ms are 2 % of 5 s,
 * which is all that a p99 would then tell of.
 */
const UNCOUNTED_SEC = 1;

/**
 * Requests at a steady pace, whether or not earlier ones are answered. Returns each answer's time in ms, from
 * the moment it was due, ascending, but for those of a first second more. (autocannon's own rate sends a
 * second's requests as one burst.)
 *
 * @throws {Error} when one of them isn't answered with a 2xx.
 */
export async function steadyLoad(target: Target, perSec: number, seconds: number): Promise<number[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: 4 * CONNECTIONS });
  const uncounted = Math.round(perSec * UNCOUNTED_SEC);
  const total = uncounted + Math.round(perSec * seconds);
  const started = performance.now();
  const answers: Promise<number>[] = [];
  try {
    while (answers.length < total) {
      const due = Math.min(total, ((performance.now() - started) / 1_000) * perSec);
      while (answers.length < due) {
        const answer = timeOf(target, agent, started + (answers.length / perSec) * 1_000);
        // All are awaited below; until then a failure isn't unhandled.
        answer.catch(() => undefined);
        answers.push(answer);
      }
      await delay(1);
    }
    return (await Promise.all(answers)).slice(uncounted).sort((a, b) => a - b);
  } finally {
    agent.destroy();
  }
}

async function timeOf(target: Target, agent: Agent, dueAt: number): Promise<number> {
  const req = request(target.url, {
    agent,
    method: 'POST',
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      'content-length': Buffer.byteLength(target.body),
      ...target.headers,
    },
  });
  return await new Promise<number>((resolve, reject) => {
    req.once('error', reject);
    req.once('response', (response) => {
      response.resume();
      void once(response, 'end').then(() => {
        const status = response.statusCode ?? 0;
        if (status >= 200 && status < 300) resolve(performance.now() - dueAt);
        else reject(new Error(`${target.url} answered ${String(status)} at half load`));
      }, reject);
    });
    req.end(target.body);
  });
}
