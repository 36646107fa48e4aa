import { setTimeout as delay } from 'node:timers/promises';
import { accessToken } from '../auth/auth-rates.ts';
import { until } from '../operator.ts';
import type { PartResult } from '../part.ts';
import { spreadOf } from '../report/ratios.ts';
import type { Servers } from '../servers.ts';
import { widenLimits } from './wide-limits.ts';

const CALLS = 60;
/** At random, up to which calls are apart: longer than a step of counting, and than the feed's own pace. */
const MAX_PAUSE_MS = 1_500;
const GOAL_MEDIAN_MS = 1_000;
const GOAL_SLOWEST_MS = 2_000;

type Feed = { points: () => number; close: () => void };

/** From the end of a call's response to the event of the Overview's feed that has its points. */
export async function measureLive(servers: Servers, say: (line: string) => void): Promise<PartResult> {
  await widenLimits(servers);
  const headers = {
    authorization: `Bearer ${await accessToken(servers)}`,
    'content-type': 'application/json',
  };
  const feed = await openFeed(servers);
  await until('the first event', () => feed.points() >= 0);
  const shownAfterMs: number[] = [];
  for (let call = 0; call < CALLS; call += 1) {
    await delay(Math.random() * MAX_PAUSE_MS);
    const before = feed.points();
    const answer = await fetch(`${servers.demo.streaming_url}/graphql`, {
      method: 'POST',
      headers,
      body: '{"query":"{ country(code: \\"CH\\") { name } }"}',
    });
    await answer.arrayBuffer();
    const endedMs = performance.now();
    if (answer.status !== 200) throw new Error(`a call was answered with ${String(answer.status)}`);
    await until('the call in the feed', () => feed.points() > before, { everyMs: 2 });
    shownAfterMs.push(performance.now() - endedMs);
  }
  feed.close();
  const { median, max } = spreadOf(shownAfterMs);
  say(`live: a call is shown after ${median.toFixed(0)} ms, at most ${max.toFixed(0)} ms`);
  const goal = (which: string, ms: number, most: number) => ({
    what: `ms from a call's response to the event that shows it, ${which}`,
    figure: ms.toFixed(0),
    target: `≤ ${String(most)}`,
    reached: ms <= most,
  });
  return {
    goals: [goal('median', median, GOAL_MEDIAN_MS), goal('slowest', max, GOAL_SLOWEST_MS)],
    notes: [
      `${String(CALLS)} calls of one account, one after the other, up to ${String(MAX_PAUSE_MS)} ms apart, on a stack without other load; the feed is the one that the Overview reads`,
    ],
    figures: { shownAfterMs },
  };
}

/** Of the sample's manager, as a browser reads it. */
async function openFeed({ demo }: Servers): Promise<Feed> {
  const api = `${demo.account_url}/api/console`;
  const { email, password } = demo.console;
  const signedIn = await fetch(`${api}/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email, password }),
  });
  if (!signedIn.ok) throw new Error(`the sign-in was answered with ${String(signedIn.status)}`);
  const cookie = signedIn.headers
    .getSetCookie()
    .map((each) => each.split(';')[0])
    .join('; ');
  const closing = new AbortController();
  const { body } = await fetch(`${api}/usage/live`, { headers: { cookie }, signal: closing.signal });
  let points = -1;
  const read = async () => {
    let rest = '';
    for await (const text of body?.pipeThrough(new TextDecoderStream()) ?? []) {
      const lines = `${rest}${text}`.split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) points = pointsOf(line) ?? points;
    }
  };
  // A feed that ends early fails the wait for its next event.
  read().catch(() => undefined);
  return {
    points: () => points,
    close: () => {
      closing.abort();
    },
  };
}

function pointsOf(line: string): number | undefined {
  if (!line.startsWith('data: ')) return undefined;
  const { limits } = JSON.parse(line.slice('data: '.length)) as {
    limits?: { points_limit?: { usage: number } };
  };
  return limits?.points_limit?.usage;
}
