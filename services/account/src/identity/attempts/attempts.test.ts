import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { createHash } from 'node:crypto';
import { waitFor } from '@tollgate/stack/wait-for';
import { startServiceProcess } from '@tollgate/testbed/service-process';
import type { ServiceProcess } from '@tollgate/testbed/service-process';
import { insertPerson, openBrowser, signedInBrowser, startPeople } from '../../../test/suite/people.ts';
import type { PeopleUnderTest } from '../../../test/suite/people.ts';

const LIMITS = {
  SIGN_IN_FAILURES_PER_ACCOUNT_AND_ADDRESS: '4',
  SIGN_IN_FAILURES_PER_ADDRESS: '8',
  SIGN_IN_WINDOW_SEC: '600',
};

let suite: PeopleUnderTest;
let replica: ServiceProcess;

beforeAll(async () => {
  suite = await startPeople(LIMITS);
  replica = await startServiceProcess('account', suite.settings);
});

afterAll(async () => {
  await replica.stop();
  await suite.close();
});

afterEach(async () => {
  await suite.database('attempt_counts').delete();
});

const attempt = (email: string, password: string, address: string, account = suite.account) =>
  openBrowser(account, address).request('POST', '/session', { email, password });
const person = () => insertPerson(suite.database);

describe('attempts to sign in', () => {
  test('over the limit of account and address are 429, the right password too, until the window ends', async () => {
    const { email, password, account_id } = await person();
    const statuses = [];
    for (let count = 0; count < 5; count += 1) {
      statuses.push((await attempt(email, 'wrong', '192.0.2.1')).status);
    }
    expect(statuses).toEqual([401, 401, 401, 401, 429]);
    const limited = await attempt(email, password, '192.0.2.1');
    expect([limited.status, limited.body['code']]).toEqual([429, 'too_many_requests']);
    expect(Number(limited.headers.get('retry-after'))).toBeGreaterThan(500);
    expect((await attempt(email, password, '192.0.2.1', replica)).status).toBe(429);
    // The owner elsewhere, and others at that address.
    expect((await attempt(email, password, '192.0.2.2')).status).toBe(201);
    const other = await person();
    expect((await attempt(other.email, other.password, '192.0.2.1')).status).toBe(201);
    const audit = () => suite.database('audit_log').where({ account_id, action: 'sign_in_limited' });
    await waitFor(async () => (await audit()).length > 0);
    expect(await audit()).toMatchObject([{ actor: 'unknown', address: '192.0.2.1' }]);
  });

  test('over it are refused without waiting for the audit log, which only an account has', async () => {
    const { email, account_id } = await person();
    for (let count = 0; count < 4; count += 1) await attempt(email, 'wrong', '192.0.2.11');
    await suite.database.transaction(async (transaction) => {
      await transaction.raw('LOCK TABLE audit_log IN EXCLUSIVE MODE');
      expect((await attempt(email, 'wrong', '192.0.2.11')).status).toBe(429);
    });
    const noted = () => suite.database('audit_log').where({ account_id, action: 'sign_in_limited' });
    await waitFor(async () => (await noted()).length === 1);
  });

  test('of any number at once, over two replicas, no more than the limit are told whether they are right', async () => {
    const { email } = await person();
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, index) =>
        attempt(email, 'wrong', '192.0.2.3', index % 2 === 0 ? suite.account : replica),
      ),
    );
    const times = (wanted: number) => answers.filter(({ status }) => status === wanted).length;
    // 503 is for those whose turn to be hashed doesn't come in time, on a busy machine.
    expect(times(401) + times(429) + times(503)).toBe(30);
    expect(times(401)).toBeGreaterThan(0);
    expect(times(401)).toBeLessThanOrEqual(4);
    expect(times(429)).toBeGreaterThan(0);
  });

  test('over the limit of an address are 429, whatever the accounts; an IPv6 network is one address', async () => {
    const { email, password } = await person();
    const statuses = [];
    for (let count = 0; count < 9; count += 1) {
      const address = `2001:db8:7:7::${String(count + 1)}`;
      statuses.push((await attempt(`unknown-${String(count)}@example.com`, 'wrong', address)).status);
    }
    expect(statuses).toEqual([...Array<number>(8).fill(401), 429]);
    expect((await attempt(email, password, '2001:db8:7:7::ffff')).status).toBe(429);
    expect((await attempt(email, password, '2001:db8:7:8::1')).status).toBe(201);
  });

  test('count for the wider networks of an IPv6 address: moving on to the next /64 begins no new count', async () => {
    const { email, password } = await person();
    const from = (number: number) => `2001:db8:9:${(0x100 + number).toString(16)}::1`;
    const statuses = [];
    for (let count = 0; count < 17; count += 1) {
      statuses.push((await attempt(`unknown-${String(count)}@example.com`, 'wrong', from(count))).status);
    }
    expect(statuses).toEqual([...Array<number>(16).fill(401), 429]);
    expect((await attempt(email, password, from(99))).status).toBe(429);
    // Another /56 of the same /48, which allows more.
    expect((await attempt(email, password, '2001:db8:9:200::1')).status).toBe(201);
    expect((await attempt(email, password, '2001:db8:a:100::1')).status).toBe(201);
  });

  test('from one address count as one, in whatever form a proxy writes it', async () => {
    const forms = [
      (port: string) => `192.0.2.8:${port}`,
      (port: string) => `"[::ffff:192.0.2.8]:${port}"`,
      (port: string) => `198.51.100.${port.slice(-1)}, 192.0.2.8:${port}, 127.0.0.2:${port}`,
    ];
    const statuses = [];
    for (let count = 0; count < 9; count += 1) {
      const address = forms[count % forms.length]?.(`5000${String(count)}`) ?? '';
      statuses.push((await attempt(`unknown-${String(count)}@example.com`, 'wrong', address)).status);
    }
    expect(statuses).toEqual([...Array<number>(8).fill(401), 429]);
    expect((await attempt('nobody@example.com', 'wrong', '192.0.2.9:50001')).status).toBe(401);
  });

  test('with the right password never count', async () => {
    const { email, password } = await person();
    for (let count = 0; count < 12; count += 1) {
      expect((await attempt(email, password, '192.0.2.4')).status).toBe(201);
    }
  });

  test('from a hundred addresses slow the account’s attempts and never lock the owner out', async () => {
    const { email, password } = await person();
    for (let count = 1; count <= 30; count += 1) {
      const { status } = await attempt(email, 'wrong', `198.51.100.${String(count)}`);
      expect(status).toBe(401);
    }
    const startedMs = performance.now();
    expect((await attempt(email, password, '192.0.2.5')).status).toBe(201);
    // Eleven beyond those that cost no time: a timer may be a millisecond early.
    expect(performance.now() - startedMs).toBeGreaterThanOrEqual(1_000);
  });

  test('that are delayed and come from one network leave room for those of others', async () => {
    const wide = await startServiceProcess('account', {
      ...suite.settings,
      SIGN_IN_FAILURES_PER_ACCOUNT_AND_ADDRESS: '50',
      SIGN_IN_FAILURES_PER_ADDRESS: '200',
    });
    try {
      const { email, password } = await person();
      const addresses = Array.from({ length: 45 }, (_, count) => `198.51.101.${String(count + 1)}`);
      await Promise.all(addresses.map((address) => attempt(email, 'wrong', address, wide)));
      // Each is delayed by the longest delay.
      const guesses = Array.from({ length: 14 }, (_, count) =>
        attempt(email, 'wrong', `2001:db8:7:8::${String(count + 1)}`, wide),
      );
      const owner = attempt(email, password, '192.0.2.7', wide);
      const statuses = (await Promise.all(guesses)).map(({ status }) => status);
      expect(statuses).toContain(503);
      expect((await owner).status).toBe(201);
    } finally {
      await wide.stop();
    }
  });

  test('at the current password of a session count like those to sign in', async () => {
    const owner = await person();
    const browser = await signedInBrowser(suite.account, owner);
    const wanted = { current_password: 'wrong', new_password: 'another good one' };
    const statuses = [];
    for (let count = 0; count < 5; count += 1) {
      statuses.push((await browser.request('PUT', '/account/password', wanted)).status);
    }
    expect(statuses).toEqual([400, 400, 400, 400, 429]);
  });

  test('are counted by the connection’s address where no proxy is trusted, whatever the caller says', async () => {
    const direct = await startServiceProcess('account', { ...suite.settings, TRUSTED_PROXIES: '' });
    try {
      const statuses = [];
      for (let count = 0; count < 9; count += 1) {
        const address = `203.0.113.${String(count)}`;
        statuses.push(
          (await attempt(`unknown-${String(count)}@example.com`, 'wrong', address, direct)).status,
        );
      }
      expect(statuses).toEqual([...Array<number>(8).fill(401), 429]);
    } finally {
      await direct.stop();
    }
  });

  test('are stored without a name or an address in them', async () => {
    const { email } = await person();
    await attempt(email, 'wrong', '192.0.2.6');
    const rows = await suite.database('attempt_counts').pluck<string[]>('subject');
    expect(rows).toHaveLength(3);
    for (const subject of rows) expect(subject).toMatch(/^[A-Za-z0-9_-]{43}$/);
  });
});

test('a flood of sign-ins gets 503 where the line is full, and the process goes on answering', async () => {
  const flooded = await startServiceProcess('account', { ...suite.settings, PASSWORD_HASH_QUEUE_MAX: '2' });
  try {
    const { email, password } = await person();
    const flood = Promise.all(
      Array.from({ length: 40 }, (_, index) =>
        attempt(`unknown-${String(index)}@example.com`, 'wrong', `198.18.0.${String(index)}`, flooded),
      ),
    );
    expect((await fetch(`${flooded.privateUrl}/health/live`)).status).toBe(200);
    const answers = await flood;
    const statuses = new Set(answers.map(({ status }) => status));
    expect([...statuses].sort()).toEqual([401, 503]);
    for (const { status, headers } of answers) {
      if (status === 503) expect(headers.get('retry-after')).toMatch(/^\d+$/);
    }
    expect((await attempt(email, password, '192.0.2.7', flooded)).status).toBe(201);
  } finally {
    await flooded.stop();
  }
});

test('a flood from changing addresses of one network leaves the others their sign-in', async () => {
  const settings = {
    PASSWORD_HASH_QUEUE_MAX: '8',
    SIGN_IN_FAILURES_PER_ADDRESS: '100000',
    SIGN_IN_FAILURES_PER_ACCOUNT_AND_ADDRESS: '100',
  };
  const flooded = await startServiceProcess('account', { ...suite.settings, ...settings });
  try {
    const people = await Promise.all(Array.from({ length: 5 }, person));
    let isOver = false;
    let refused = 0;
    const guess = async (caller: number) => {
      for (let count = 0; !isOver; count += 1) {
        const address = `2001:db8:66:${((caller * 97 + count) % 512).toString(16)}::1`;
        const { status } = await attempt(`unknown-${String(caller)}@example.com`, 'wrong', address, flooded);
        if (status === 503) refused += 1;
      }
    };
    // So many have failed there already that it isn't quiet.
    await suite.database.raw(
      `INSERT INTO attempt_counts (subject, attempts, window_ends_at) VALUES (?, 40000, now() + interval '1 hour')`,
      [createHash('sha256').update('sign-in address 2001:db8:66::/48').digest('base64url')],
    );
    const flood = Array.from({ length: 32 }, (_, caller) => guess(caller));
    await waitFor(() => refused > 80);
    const statuses = [];
    for (const [index, { email, password }] of people.entries()) {
      statuses.push((await attempt(email, password, `192.0.2.${String(100 + index)}`, flooded)).status);
    }
    isOver = true;
    await Promise.all(flood);
    expect(statuses).toEqual([201, 201, 201, 201, 201]);
  } finally {
    await flooded.stop();
  }
});
