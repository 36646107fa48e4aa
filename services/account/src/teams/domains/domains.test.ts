import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { waitFor } from '@tollgate/stack/wait-for';
import { newOwner } from '../../../test/suite/console.ts';
import type { Owner } from '../../../test/suite/console.ts';
import { mailAbout, mailsTo, startPeople } from '../../../test/suite/people.ts';
import type { PeopleUnderTest } from '../../../test/suite/people.ts';
import { startDnsServer } from '@tollgate/testbed/dns-server';
import type { DnsServer } from '@tollgate/testbed/dns-server';
import { joinTeam, makeTeam } from '../../../test/suite/team.ts';

/** A team's email domains, proven by DNS. */

let dns: DnsServer;
let suite: PeopleUnderTest;

beforeAll(async () => {
  dns = await startDnsServer();
  suite = await startPeople({ DNS_SERVERS: dns.address, HOUSEKEEPING_INTERVAL_SEC: '1' });
});

afterAll(async () => {
  await suite.close();
  await dns.close();
});

type Added = { domain_id: number; domain: string; status: string; record: { name: string; value: string } };

let domain: string;

beforeEach(() => {
  domain = `company-${randomUUID()}.com`;
});

async function newManager(): Promise<Owner> {
  const manager = await newOwner(suite);
  await makeTeam(manager);
  return manager;
}

async function add({ browser }: Owner, wanted = domain): Promise<Added> {
  const { status, text, body } = await browser.request('POST', '/team/domains', { domain: wanted });
  if (status !== 201) throw new Error(`not added: ${text}`);
  return body as unknown as Added;
}

const askNow = ({ browser }: Owner, { domain_id }: Added) =>
  browser.request('POST', `/team/domains/${String(domain_id)}/check`);

/** As if a minute had passed since the last question. */
const forgetQuestions = () => suite.database('attempt_counts').delete();

async function check(manager: Owner, added: Added) {
  await forgetQuestions();
  return askNow(manager, added);
}

const publish = ({ record }: Added, ...strings: string[]) =>
  dns.texts.set(record.name, [strings.length === 0 ? [record.value] : strings]);

async function prove(manager: Owner): Promise<Added> {
  const added = await add(manager);
  publish(added);
  expect((await check(manager, added)).body['result']).toBe('proven');
  return added;
}

const rowOf = async ({ domain_id }: Added) =>
  (await suite.database('team_domains').where({ domain_id }))[0] as {
    proven_at: Date | null;
    missing_since: Date | null;
    asked_at: Date;
  };

/** The worker finds it due now. */
async function makeDue({ domain_id }: Added, changes: Record<string, unknown> = {}) {
  await forgetQuestions();
  await suite
    .database('team_domains')
    .where({ domain_id })
    .update({ asked_at: new Date(Date.now() - 25 * 3_600_000), ...changes });
}

const checkedDaily = (added: Added) =>
  waitFor(async () => (await rowOf(added)).asked_at.getTime() > Date.now() - 3_600_000);

const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000 - 60_000);

describe('a domain', () => {
  test('is proven by its TXT record, exactly as the answer shows it', async () => {
    const manager = await newManager();
    const added = await add(manager);
    expect(added).toMatchObject({
      domain,
      status: 'unproven',
      record: {
        type: 'TXT',
        host: '_tollgate-challenge',
        name: `_tollgate-challenge.${domain}`,
        value: expect.stringMatching(/^tollgate-domain-verification=[0-9a-f]{32}$/),
      },
    });
    expect(await add(manager, domain.toUpperCase())).toEqual(added);

    dns.texts.set(domain, []);
    expect((await check(manager, added)).body).toMatchObject({ result: 'missing', found: [] });
    dns.texts.set(added.record.name, [['v=spf1 -all'], [`${added.record.value}0`]]);
    expect((await check(manager, added)).body).toMatchObject({
      result: 'missing',
      found: ['v=spf1 -all', `${added.record.value}0`],
      domain: { status: 'unproven' },
    });
    // One of several, in two strings.
    const { value } = added.record;
    dns.texts.set(added.record.name, [['v=spf1 -all'], [value.slice(0, 20), value.slice(20)]]);
    const proven = await check(manager, added);
    expect(proven.body).toMatchObject({ result: 'proven', domain: { status: 'proven' } });

    const entries = await suite
      .database('audit_log')
      .where({ account_id: manager.account_id })
      .whereLike('action', 'team_domain_%')
      .orderBy('audit_id')
      .pluck('action');
    expect(entries).toEqual(['team_domain_added', 'team_domain_proven']);
  });

  test('is asked for once a minute, however many ask', async () => {
    const manager = await newManager();
    const added = await add(manager);
    const answers = await Promise.all(Array.from({ length: 5 }, () => askNow(manager, added)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 429, 429, 429, 429]);
    const refused = answers.find(({ status }) => status === 429);
    expect(refused?.body).toMatchObject({ detail: 'DNS is asked at most once a minute.' });
    const retryAfterSec = Number(refused?.headers.get('retry-after'));
    expect(retryAfterSec).toBeGreaterThan(0);
    expect(retryAfterSec).toBeLessThanOrEqual(60);
  });

  test('that is removed and added again has had its question of the minute; another team has its own', async () => {
    const [manager, other] = [await newManager(), await newManager()];
    const added = await add(manager);
    expect((await askNow(manager, added)).status).toBe(200);
    await manager.browser.request('DELETE', `/team/domains/${String(added.domain_id)}`);
    const again = await add(manager);
    expect(again.domain_id).not.toBe(added.domain_id);
    expect((await askNow(manager, again)).status).toBe(429);
    expect((await askNow(other, await add(other))).status).toBe(200);
  });

  test('that is not known to DNS, or whose servers are silent, is neither proven nor missing', async () => {
    const manager = await newManager();
    const added = await add(manager);
    expect((await check(manager, added)).body).toMatchObject({ result: 'unknown', found: [] });
    dns.silent.add(added.record.name);
    expect((await check(manager, added)).body).toMatchObject({ result: 'unknown' });
  });

  test('of a mail provider, a public suffix and more than 20 are refused', async () => {
    const manager = await newManager();
    for (const refused of ['gmail.com', 'co.uk', '10.0.0.1', 'exаmple.com', '', 1]) {
      const { status, body } = await manager.browser.request('POST', '/team/domains', { domain: refused });
      expect([status, (body['errors'] as { field: string }[])[0]?.field]).toEqual([400, 'domain']);
    }
    for (let made = 0; made < 20; made += 1) await add(manager, `d${String(made)}.${domain}`);
    expect((await manager.browser.request('POST', '/team/domains', { domain })).status).toBe(400);
  });

  test('is the manager’s to add, check and remove', async () => {
    const [manager, member, stranger] = [await newManager(), await newOwner(suite), await newManager()];
    await joinTeam(manager, member);
    const added = await add(manager);
    const path = `/team/domains/${String(added.domain_id)}`;
    for (const [who, status] of [
      [member, 403],
      [stranger, 404],
    ] as const) {
      expect((await who.browser.request('POST', `${path}/check`)).status).toBe(status);
      expect((await who.browser.request('DELETE', path)).status).toBe(status);
    }
    expect((await member.browser.request('GET', '/team/domains')).status).toBe(403);
    expect((await manager.browser.request('DELETE', path)).status).toBe(204);
    expect((await manager.browser.request('GET', '/team/domains')).body['domains']).toEqual([]);
  });
});

describe('another team', () => {
  test('has another challenge, so the first one’s record proves nothing for it', async () => {
    const [first, second] = [await newManager(), await newManager()];
    await prove(first);
    const added = await add(second);
    expect((await check(second, added)).body).toMatchObject({ result: 'missing' });
  });

  test('that proves the domain takes it at once, and both managers are mailed', async () => {
    const [first, second] = [await newManager(), await newManager()];
    const before = await prove(first);
    const added = await add(second);
    publish(added);
    expect((await check(second, added)).body).toMatchObject({ result: 'proven' });
    expect((await first.browser.request('GET', '/team/domains')).body['domains']).toMatchObject([
      { domain_id: before.domain_id, status: 'unproven' },
    ]);
    await mailAbout(suite.mailDirectory, first.email, `[Tollgate] ${domain} now belongs to another team`);
    await mailAbout(suite.mailDirectory, second.email, `[Tollgate] ${domain} is now your team's`);
    const lost = { account_id: first.account_id, action: 'team_domain_lost' };
    expect(await suite.database('audit_log').where(lost)).toHaveLength(1);
  });

  test('of two that prove it at the same moment, one has it', async () => {
    const managers = [await newManager(), await newManager()];
    const added: Added[] = [];
    for (const manager of managers) added.push(await add(manager));
    dns.texts.set(
      `_tollgate-challenge.${domain}`,
      added.map(({ record }) => [record.value]),
    );
    const checks = await Promise.all(managers.map((manager, index) => check(manager, added[index] as Added)));
    expect(checks.map(({ status }) => status)).toEqual([200, 200]);
    const proven = await suite.database('team_domains').where({ domain }).whereNotNull('proven_at');
    expect(proven).toHaveLength(1);
  });
});

describe('the daily check', () => {
  test('keeps a proven domain, and forgets that it was missing', async () => {
    const added = await prove(await newManager());
    await makeDue(added, { missing_since: daysAgo(3) });
    await checkedDaily(added);
    await waitFor(async () => (await rowOf(added)).missing_since === null);
    expect((await rowOf(added)).proven_at).toEqual(expect.any(Date));
  });

  test('mails the manager once after 7 days, and shows the domain as lapsed after 30', async () => {
    const manager = await newManager();
    const added = await prove(manager);
    const status = async () =>
      ((await manager.browser.request('GET', '/team/domains')).body['domains'] as Added[])[0]?.status;
    dns.texts.set(domain, []);
    dns.texts.delete(added.record.name);
    await makeDue(added);
    await waitFor(async () => (await status()) === 'missing');
    const subject = `[Tollgate] The DNS record of ${domain} is missing`;
    await makeDue(added, { missing_since: daysAgo(7) });
    await mailAbout(suite.mailDirectory, manager.email, subject);
    await makeDue(added, { missing_since: daysAgo(30) });
    await checkedDaily(added);
    expect(await status()).toBe('lapsed');
    expect(await suite.database('mail_outbox').where({ recipient: manager.email })).toEqual([]);
    const sent = mailsTo(suite.mailDirectory, manager.email);
    expect(sent.filter((mail) => mail.subject === subject)).toHaveLength(1);

    publish(added);
    expect((await check(manager, added)).body).toMatchObject({ domain: { status: 'proven' } });
  });

  test('is the question of its minute', async () => {
    const manager = await newManager();
    const added = await prove(manager);
    await makeDue(added);
    await waitFor(async () => (await suite.database('attempt_counts').select()).length > 0);
    expect((await askNow(manager, added)).status).toBe(429);
  });

  test('takes no silence, and no unknown domain, for a missing record', async () => {
    const added = await prove(await newManager());
    dns.texts.delete(added.record.name);
    await makeDue(added);
    await checkedDaily(added);
    expect(await rowOf(added)).toMatchObject({ missing_since: null, proven_at: expect.any(Date) });
  });
});
