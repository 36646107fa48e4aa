import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { statSync, readdirSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import PostalMime from 'postal-mime';
import { waitFor } from '@tollgate/stack/wait-for';
import { startServiceProcess } from '@tollgate/testbed/service-process';
import { openMailServer, smtpSettings as smtp } from '../../test/suite/stand-ins/mail-server.ts';
import type { MailServer } from '../../test/suite/stand-ins/mail-server.ts';
import {
  insertPerson,
  nthMail,
  openBrowser,
  readMail,
  signedInBrowser,
  startPeople,
} from '../../test/suite/people.ts';
import type { PeopleUnderTest, Person } from '../../test/suite/people.ts';
import { senderOf } from './sender.ts';
import { smtpTransport } from './transport.ts';

const cleanUps: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).toReversed()) await cleanUp();
});

async function startSuite(settings: Record<string, string> = {}): Promise<PeopleUnderTest> {
  const suite = await startPeople(settings);
  cleanUps.push(() => suite.close());
  return suite;
}

async function startMailServer(): Promise<MailServer> {
  const server = await openMailServer();
  cleanUps.push(() => server.close());
  return server;
}

/** A server that does with its connections what it is told to, and counts those that came and those that are open. */
async function startRawServer(onSocket: (socket: Socket) => void) {
  const sockets = new Set<Socket>();
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket)).on('error', () => undefined);
    onSocket(socket);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  cleanUps.push(async () => {
    for (const socket of sockets) socket.destroy();
    server.close();
    await once(server, 'close');
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `smtp://127.0.0.1:${String(port)}`,
    connections: () => connections,
    open: () => sockets.size,
  };
}

/** Takes connections and never says a word. */
const startMuteServer = () => startRawServer(() => undefined);

/** Greets, and then answers line by line without ever coming to an end. */
const startEndlessServer = () =>
  startRawServer((socket) => {
    socket.resume().write('220 mail.example\r\n');
    const lines = setInterval(() => socket.write('250-AND\r\n'), 100);
    socket.once('close', () => {
      clearInterval(lines);
    });
  });

const askForReset = ({ account }: PeopleUnderTest, { email }: Pick<Person, 'email'>) =>
  openBrowser(account).request('POST', '/password-reset', { email });
const queued = ({ database }: PeopleUnderTest) => database('mail_outbox').select('*');

async function metric({ account }: PeopleUnderTest, line: RegExp): Promise<number> {
  const metrics = await (await fetch(`${account.privateUrl}/metrics`)).text();
  return Number(line.exec(metrics)?.[1] ?? 0);
}

describe('with a server', () => {
  let server: MailServer;
  let suite: PeopleUnderTest;

  beforeAll(async () => {
    server = await openMailServer();
    suite = await startPeople(smtp(server.url));
  });

  afterEach(() => {
    server.refuse(undefined);
  });

  afterAll(async () => {
    await suite.close();
    await server.close();
  });

  const receivedBy = ({ email }: Pick<Person, 'email'>) =>
    server.received.filter((raw) => readMail(raw).to === email);

  /** Whether account has logged this once more than now. */
  function logged(line: string): () => boolean {
    const lines = () => suite.account.logs().split(line).length;
    const before = lines();
    return () => lines() > before;
  }

  test('a link to a new address that was put off is never sent once the password has changed', async () => {
    const person = await insertPerson(suite.database);
    const browser = await signedInBrowser(suite.account, person);
    const stranger = { email: `stranger-${String(person.account_id)}@example.com` };
    const isPutOff = logged('mail not sent; will retry');
    server.refuse(451);
    const wanted = { ...stranger, current_password: person.password };
    expect((await browser.request('POST', '/account/email', wanted)).status).toBe(202);
    await waitFor(isPutOff);
    const change = { current_password: person.password, new_password: 'another good one' };
    expect((await browser.request('PUT', '/account/password', change)).status).toBe(200);
    server.refuse(undefined);
    await suite.database('mail_outbox').update({ next_attempt_at: new Date() });
    await waitFor(async () => (await queued(suite)).length === 0);
    expect([receivedBy(person).length, receivedBy(stranger)]).toEqual([1, []]);
    expect(await suite.database('email_tokens').where({ account_id: person.account_id })).toEqual([]);
  });

  test('a mail is sent by SMTP, from whom the settings say, and its link works', async () => {
    const person = await insertPerson(suite.database);
    expect((await askForReset(suite, person)).status).toBe(202);
    const raw = await waitFor(() => receivedBy(person)[0]);
    const mail = readMail(raw);
    expect(mail.to).toBe(person.email);
    expect(raw).toMatch(/^From: Tollgate <no-reply@tollgate\.example>\r$/m);
    expect(raw).toMatch(/^Auto-Submitted: auto-generated\r$/m);
    const wanted = { token: mail.token, password: 'another good one' };
    expect((await openBrowser(suite.account).request('POST', '/password-reset/confirm', wanted)).status).toBe(
      204,
    );
    await waitFor(async () => (await queued(suite)).length === 0);
    expect(receivedBy(person)).toHaveLength(2);
  });

  test('a server that refuses for now gets the mail later; it isn’t told in thousands of lines', async () => {
    server.refuse(451);
    const person = await insertPerson(suite.database);
    const says = logged('mail not sent; will retry');
    await askForReset(suite, person);
    await waitFor(says);
    expect(await queued(suite)).toHaveLength(1);
    server.refuse(undefined);
    await waitFor(() => receivedBy(person).length === 1);
    await waitFor(async () => (await queued(suite)).length === 0);
    expect(suite.account.logs()).not.toContain(person.email);
  });

  test('a recipient that the server refuses for good is given up, and the others get theirs', async () => {
    server.refuse(550);
    const [person, other] = [await insertPerson(suite.database), await insertPerson(suite.database)];
    await askForReset(suite, person);
    await waitFor(() => suite.account.logs().includes('mail not sent; giving up'));
    await waitFor(async () => (await queued(suite)).length === 0);
    expect(await metric(suite, /^tollgate_mail_outbox_deliveries_total\{.*given_up.*\} (\d+)$/m)).toBe(1);
    server.refuse(undefined);
    await askForReset(suite, other);
    await waitFor(() => receivedBy(other).length === 1);
    expect(suite.account.logs()).not.toContain(person.email);
  });

  test('two replicas send each mail once', async () => {
    const replica = await startServiceProcess('account', suite.settings);
    cleanUps.push(() => replica.stop());
    const people = await Promise.all(Array.from({ length: 20 }, () => insertPerson(suite.database)));
    await Promise.all(
      people.map(async ({ email }, index) => {
        const browser = openBrowser(index % 2 === 0 ? suite.account : replica);
        // 503 from one that is busy: then nothing is queued.
        await waitFor(
          async () => (await browser.request('POST', '/password-reset', { email })).status !== 503,
        );
      }),
    );
    await waitFor(async () => (await queued(suite)).length === 0);
    for (const one of people) expect(receivedBy(one)).toHaveLength(1);
  });

  test('a mail that a later version has queued is left to a replica of that one', async () => {
    const says = logged('mail not sent; will retry');
    await suite.database.raw('ALTER TABLE mail_outbox DROP CONSTRAINT mail_outbox_kind_check');
    await suite.database('mail_outbox').insert({ kind: 'of_a_later_version', recipient: 'ada@example.com' });
    await waitFor(says);
    expect(await queued(suite)).toHaveLength(1);
    expect(receivedBy({ email: 'ada@example.com' })).toEqual([]);
  });
});

test.each([
  ['no-reply@tollgate.example', '', 'no-reply@tollgate.example'],
  ['Data, Inc. <no-reply@tollgate.example>', 'Data, Inc.', 'no-reply@tollgate.example'],
  ['"Data \\"Now\\", Inc." <no-reply@tollgate.example>', 'Data "Now", Inc.', 'no-reply@tollgate.example'],
  ['The "Data" (Company): <no-reply@tollgate.example>', 'The "Data" (Company):', 'no-reply@tollgate.example'],
  ['Zürcher Daten AG <no-reply@bücher.example>', 'Zürcher Daten AG', 'no-reply@xn--bcher-kva.example'],
  ['データ, 東京 <no-reply@tollgate.example>', 'データ, 東京', 'no-reply@tollgate.example'],
  [`${'Ж'.repeat(100)}<no-reply@tollgate.example>`, 'Ж'.repeat(100), 'no-reply@tollgate.example'],
  ['😀 Data <no-reply@localhost>', '😀 Data', 'no-reply@localhost'],
])('MAIL_FROM=%s reaches its readers', async (setting, name, address) => {
  const server = await startMailServer();
  const transport = smtpTransport({ url: server.url, from: senderOf(setting), timeoutMs: 20_000 });
  await transport.send(
    { to: 'ada@example.com', subject: 'Hello', text: 'Hello', html: '<p>Hello</p>', logo: null },
    1,
  );
  transport.close();
  const raw = server.received[0] ?? '';
  expect(raw).toMatch(/^[\t\n\r -~]*$/);
  expect((await PostalMime.parse(raw)).from).toEqual({ name, address });
});

test.each([
  ['Tollgate', 'must be an email address'],
  ['Tollgate <no-reply>', 'must be an email address'],
  ['Tollgate <a@tollgate.example>, Other <b@tollgate.example>', 'the name must'],
  ['a@tollgate.example, b@tollgate.example', 'must be an email address'],
  ['Toll\ngate <no-reply@tollgate.example>', 'the name must be Unicode text without control characters'],
  ['gate\u202elloT <no-reply@tollgate.example>', 'the name must not contain bidirectional controls'],
  ['\u200b <no-reply@tollgate.example>', 'the name must have at least one visible character'],
  ['=?UTF-8?Q?Z=C3=BCrich?= <no-reply@tollgate.example>', 'the name must not be encoded'],
  [`${'x'.repeat(101)} <no-reply@tollgate.example>`, 'the name must have at most 100 characters'],
])('MAIL_FROM=%j is refused with what is wrong', (setting, fault) => {
  expect(() => senderOf(setting)).toThrow(fault);
});

test('a server that hangs holds up no request and no shutdown, and what waits is sent when one answers', async () => {
  const mute = await startMuteServer();
  const suite = await startSuite({ ...smtp(mute.url), MAIL_ATTEMPT_TIMEOUT_MS: '2000' });
  const people = await Promise.all(Array.from({ length: 12 }, () => insertPerson(suite.database)));
  for (const person of people) expect((await askForReset(suite, person)).status).toBe(202);
  await waitFor(() => mute.connections() >= 8);
  for (const person of people.slice(0, 3)) await signedInBrowser(suite.account, person);
  await waitFor(() => suite.account.logs().includes('"code":"ETIMEDOUT"'));
  expect(await suite.account.stop()).toMatchObject({ code: 0 });
  expect(await queued(suite)).toHaveLength(12);

  const server = await startMailServer();
  await suite.database('mail_outbox').update({ next_attempt_at: new Date() });
  await suite.account.restart(smtp(server.url));
  await waitFor(() => server.received.length === 12);
  const recipients = server.received.map((raw) => readMail(raw).to);
  expect(recipients.sort()).toEqual(people.map(({ email }) => email).sort());
});

test('a server that answers without end is left, and its connection with it', async () => {
  const endless = await startEndlessServer();
  const suite = await startSuite({ ...smtp(endless.url), MAIL_ATTEMPT_TIMEOUT_MS: '1000' });
  await askForReset(suite, await insertPerson(suite.database));
  await waitFor(() => suite.account.logs().includes('"code":"ETIMEDOUT"'));
  expect(endless.connections()).toBeGreaterThan(0);
  await waitFor(() => endless.open() === 0);
  expect(await queued(suite)).toHaveLength(1);
});

test('a process that is killed while it sends loses no mail: another replica sends it', async () => {
  const mute = await startMuteServer();
  const suite = await startSuite({ ...smtp(mute.url), MAIL_ATTEMPT_TIMEOUT_MS: '1000' });
  const person = await insertPerson(suite.database);
  await askForReset(suite, person);
  await waitFor(() => mute.connections() > 0);
  await suite.account.kill();
  const server = await startMailServer();
  const replica = await startServiceProcess('account', { ...suite.settings, ...smtp(server.url) });
  cleanUps.push(() => replica.stop());
  const raw = await waitFor(() => server.received[0]);
  const wanted = { token: readMail(raw).token, password: 'another good one' };
  expect((await openBrowser(replica).request('POST', '/password-reset/confirm', wanted)).status).toBe(204);
  await suite.account.restart();
});

test('without a server mails are files that only this user may read, and the log says where', async () => {
  const suite = await startSuite();
  const person = await insertPerson(suite.database);
  await askForReset(suite, person);
  const { token } = await nthMail(suite.mailDirectory, person.email);
  expect(token).toHaveLength(43);
  expect(statSync(suite.mailDirectory).mode & 0o777).toBe(0o700);
  const [file = ''] = readdirSync(suite.mailDirectory);
  expect(statSync(`${suite.mailDirectory}/${file}`).mode & 0o777).toBe(0o600);
  expect(suite.account.logs()).toContain(`"mail_dir":"${suite.mailDirectory}"`);
  expect(suite.account.logs()).not.toContain(token);
});
