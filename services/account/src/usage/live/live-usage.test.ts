import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { becomeReady, startServiceProcess } from '@tollgate/testbed/service-process';
import type { ServiceProcess } from '@tollgate/testbed/service-process';
import { waitFor } from '@tollgate/stack/wait-for';
import { startAccount } from '../../../test/suite/account-under-test.ts';
import type { AccountUnderTest } from '../../../test/suite/account-under-test.ts';
import { newOwner } from '../../../test/suite/console.ts';
import type { Owner } from '../../../test/suite/console.ts';
import { insertPeriod, insertTeam, secondsFromNow } from '../../../test/suite/database/records.ts';
import { accountMetric } from '../../../test/suite/metrics.ts';
import { signedInBrowser } from '../../../test/suite/people.ts';
import { openLiveFeed } from '../../../test/suite/usage/live-feed.ts';
import type { FeedEvent, LiveFeed } from '../../../test/suite/usage/live-feed.ts';
import { allCounted, appendBatch, usageEvent } from '../../../test/suite/usage/usage-streams.ts';
import { FEED_LIMITS } from './feeds.ts';

let suite: AccountUnderTest;
/** Counts nothing that its own feeds show: any replica may count. */
let replica: ServiceProcess;
const opened: LiveFeed[] = [];

beforeAll(async () => {
  suite = await startAccount();
  replica = await startServiceProcess('account', suite.settings);
  await becomeReady(replica);
});

afterEach(() => {
  for (const feed of opened.splice(0)) feed.close();
});

afterAll(async () => {
  await replica.stop();
  await suite.close();
});

async function newCustomer(description: Record<string, unknown> = { points_limit: 1_000 }) {
  const owner = await newOwner(suite);
  const { account_id } = owner;
  const period_id = await insertPeriod(suite.database, account_id, { description });
  return { ...owner, event: usageEvent({ account_id, payer_id: account_id, period_id }) };
}

async function follow({ browser }: Pick<Owner, 'browser'>, account = suite.account): Promise<LiveFeed> {
  const feed = await openLiveFeed(account.publicUrl, browser);
  opened.push(feed);
  return feed;
}

const pointsOf = ({ data }: FeedEvent) =>
  (data['limits'] as { points_limit?: { usage: number } } | undefined)?.points_limit?.usage;

describe('a live feed', () => {
  test('begins with the pace, and neither proxies nor browsers keep or change it', async () => {
    const customer = await newCustomer();
    const feed = await follow(customer);
    expect(feed.status).toBe(200);
    expect(Object.fromEntries(feed.headers)).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store, no-transform',
      'x-accel-buffering': 'no',
    });
    const { event, id, data } = await feed.next();
    const { body } = await customer.browser.request('GET', '/usage/pace');
    expect([event, id]).toEqual(['pace', expect.stringMatching(/^[\w-]{16}$/)]);
    expect({ ...data, elapsed_share: 0 }).toEqual({ ...body, elapsed_share: 0 });
    expect(feed.retryMs).toBeGreaterThanOrEqual(1_000);
  });

  test('shows what another replica has counted', async () => {
    const customer = await newCustomer();
    const feeds = [await follow(customer), await follow(customer, replica)];
    for (const feed of feeds) expect(pointsOf(await feed.next())).toBe(0);
    await appendBatch(suite.store, [{ ...customer.event, points: 7 }]);
    for (const feed of feeds) await feed.next((event) => pointsOf(event) === 7);
  });

  test('turns many calls into few events, the last of which has them all', async () => {
    const customer = await newCustomer({ points_limit: 1_000_000 });
    const feed = await follow(customer);
    await feed.next();
    const startedMs = performance.now();
    for (let batch = 0; batch < 40; batch += 1) {
      await appendBatch(
        suite.store,
        Array.from({ length: 100 }, () => ({ ...customer.event, points: 1 })),
      );
      if (batch % 10 === 9) await allCounted(suite);
    }
    await feed.next((event) => pointsOf(event) === 4_000);
    const tookSec = (performance.now() - startedMs) / 1_000;
    expect(feed.events.length - 1).toBeLessThanOrEqual(Math.ceil(tookSec * 2.5) + 1);
  });

  test('says when there is no billing period, and when there is one', async () => {
    const owner = await newOwner(suite);
    const feed = await follow(owner);
    expect(await feed.next()).toMatchObject({
      event: 'no_billing_period',
      data: expect.not.objectContaining({ status: expect.anything() as unknown }) as unknown,
    });
    await insertPeriod(suite.database, owner.account_id);
    expect(await feed.next()).toMatchObject({ event: 'pace', data: { status: 'active' } });
  });

  test('follows a block, its end, and what time alone changes', async () => {
    const owner = await newOwner(suite);
    await insertPeriod(suite.database, owner.account_id, { ended_at: secondsFromNow(2), grace_sec: 1 });
    const feed = await follow(owner);
    expect((await feed.next()).data['status']).toBe('active');
    const setBlocked = (blocked_at: Date | null) =>
      suite.database('accounts').where({ account_id: owner.account_id }).update({ blocked_at });
    await setBlocked(new Date());
    await feed.next(({ data }) => data['status'] === 'blocked');
    await setBlocked(null);
    await feed.next(({ data }) => data['status'] === 'grace');
    await feed.next(({ data }) => data['status'] === 'expired');
  });

  test('shows a crossed threshold', async () => {
    const customer = await newCustomer();
    const feed = await follow(customer);
    await appendBatch(suite.store, [{ ...customer.event, points: 850 }]);
    const { data } = await feed.next(({ data }) => String(data['crossed_thresholds']) !== '');
    expect(data['crossed_thresholds']).toEqual([
      { limit: 'points_limit', share_percent: 80, crossed_at: expect.stringMatching(/Z$/) },
    ]);
  });

  test('a member sees the manager’s plan, and after leaving the team no more of it', async () => {
    const manager = await newCustomer();
    const member = await newOwner(suite);
    await insertTeam(suite.database, manager.account_id, member.account_id);
    const feed = await follow(member);
    expect((await feed.next()).data).toMatchObject({
      payer_id: manager.account_id,
      payer: { name: 'Someone', email: manager.email },
    });
    await suite.database('team_members').where({ account_id: member.account_id }).delete();
    expect((await feed.next()).event).toBe('no_billing_period');
  });
});

describe('the session', () => {
  test.each<[string, (owner: Owner) => Promise<unknown>]>([
    ['signing out', ({ browser }) => browser.request('DELETE', '/session')],
    [
      'signing out elsewhere',
      async (owner) => {
        const other = await signedInBrowser(suite.account, owner);
        return other.request('DELETE', '/sessions');
      },
    ],
    [
      'its expiry',
      ({ account_id }) => suite.database('sessions').where({ account_id }).update({ expires_at: new Date() }),
    ],
  ])('ends the feed: %s', async (_, end) => {
    const customer = await newCustomer();
    const feeds = [await follow(customer), await follow(customer, replica)];
    for (const feed of feeds) await feed.next();
    await end(customer);
    for (const feed of feeds) {
      expect((await feed.next()).event).toBe('session_ended');
      expect(await waitFor(() => feed.ended())).toBe('whole');
    }
  });

  test('is needed', async () => {
    const feed = await openLiveFeed(suite.account.publicUrl, { cookie: undefined });
    expect([feed.status, feed.headers.get('content-type')]).toEqual([401, 'application/problem+json']);
  });

  test('HEAD opens nothing', async () => {
    const { browser } = await newCustomer();
    const open = () => accountMetric(suite.account, 'tollgate_usage_feeds_open');
    // Those of other tests, whose ends take their time to arrive.
    await waitFor(async () => (await open()) === 0);
    const answer = await browser.request('HEAD', '/usage/live');
    expect([answer.status, answer.text]).toEqual([200, '']);
    expect(await open()).toBe(0);
  });
});

test('a session has a limited number of feeds; the next one may open when one has closed', async () => {
  const customer = await newCustomer();
  const feeds = await Promise.all(Array.from({ length: FEED_LIMITS.perSession }, () => follow(customer)));
  expect(feeds.map(({ status }) => status)).toEqual(feeds.map(() => 200));
  const refused = await customer.browser.request('GET', '/usage/live');
  expect([refused.status, refused.body['code']]).toEqual([429, 'too_many_requests']);
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  feeds[0]?.close();
  await waitFor(async () => {
    const feed = await follow(customer);
    return feed.status === 200;
  });
});

test('feeds end when account shuts down, which they do not delay', async () => {
  const customer = await newCustomer();
  const feed = await follow(customer, replica);
  await feed.next();
  await replica.stop();
  // What delays a shutdown is cut off.
  expect(await waitFor(() => feed.ended())).toBe('whole');
  await replica.restart();
  await becomeReady(replica);
});
