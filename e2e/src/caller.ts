import { setTimeout as delay } from 'node:timers/promises';
import { usageResponseSchema } from '@tollgate/contracts/usage-response';
import type { UsageResponse } from '@tollgate/contracts/usage-response';
import { intervalAfter } from '@tollgate/stack/wait-for';
import type { Demo, DemoApplication } from './stack/stack.ts';

/** What a customer's script does: get a token, call the API, look at the usage. */

/** The token request of the source specification, section 4.1. */
export function postToken(
  authUrl: string,
  fields: Record<string, string>,
  headers: Record<string, string> = {},
): Promise<Response> {
  return fetch(`${authUrl}/oauth2/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    body: new URLSearchParams(fields),
  });
}

export function tokenFields({ client_id, client_secret }: DemoApplication): Record<string, string> {
  return { grant_type: 'client_credentials', client_id, client_secret, scope: 'api' };
}

/** A token of an application; throws where it isn't granted. */
export async function obtainToken(demo: Demo, application: DemoApplication): Promise<string> {
  const response = await postToken(demo.auth_url, tokenFields(application));
  const body = (await response.json()) as { access_token?: string };
  if (body.access_token === undefined) throw new Error(`no token: ${String(response.status)}`);
  return body.access_token;
}

/** POST {streaming_url}/graphql, as in the source specification, section 4.3. */
export function postGraphql(demo: Demo, token: string, query: string): Promise<Response> {
  return fetch(`${demo.streaming_url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: JSON.stringify({ query }),
  });
}

export function getUsage(baseUrl: string, token: string): Promise<Response> {
  return fetch(`${baseUrl}/api/usage`, { headers: { authorization: `Bearer ${token}` } });
}

/** The usage of a token's account, held to the contract. */
export async function readUsage(demo: Demo, token: string): Promise<UsageResponse> {
  const response = await getUsage(demo.account_url, token);
  if (response.status !== 200) throw new Error(`no usage: ${String(response.status)}`);
  return usageResponseSchema.parse(await response.json());
}

/** Dearer than all that another spec can have left uncounted. */
const DEAR_QUERY = '{ countries(first: 100) { name languages { name } } }';
export const COUNTING_TIME_LIMIT_MS = 30_000;

/** Caches would forget a token after five minutes. The second that is promised is measured by `npm run bench`. */
export const LONG_BEFORE_EXPIRY_MS = 30_000;

/**
 * The usage once every call so far is counted. A payer's calls are counted in their order, so one more call, so
 * dear that its points can't be mistaken for those of the ones before it, tells.
 */
export async function settledUsage(demo: Demo, token: string): Promise<UsageResponse> {
  const { points_usage } = (await readUsage(demo, token)).billing_period.usage;
  const response = await postGraphql(demo, token, DEAR_QUERY);
  await response.arrayBuffer();
  const points = Number(response.headers.get('x-points-cost'));
  if (response.status !== 200 || points < 200) throw new Error(`no dear call: ${String(response.status)}`);
  return eventually(
    () => readUsage(demo, token),
    ({ billing_period: { usage } }) => usage.points_usage >= points_usage + points,
    COUNTING_TIME_LIMIT_MS,
  );
}

/** Waits for a condition, asked again every few milliseconds; throws with its last answer at the deadline. */
export async function eventually<T>(
  ask: () => Promise<T>,
  holds: (answer: T) => boolean,
  timeoutMs: number,
): Promise<T> {
  const startedAt = performance.now();
  const deadline = startedAt + timeoutMs;
  for (;;) {
    const answer = await ask();
    if (holds(answer)) return answer;
    if (performance.now() > deadline) {
      throw new Error(`still not so after ${String(timeoutMs)} ms: ${JSON.stringify(answer)}`);
    }
    await delay(intervalAfter(performance.now() - startedAt));
  }
}
