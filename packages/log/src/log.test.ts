import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createLogger, recordWriter } from './log.ts';
import { redact } from './redact.ts';

/** Tokens are written out here: their format is another package's promise, and this one must hold for all. */
const token = fc.stringMatching(/^[a-z][a-z0-9]{0,15}_[0-9A-Za-z]{22}_[0-9A-Za-z]{49}$/);
const surroundings = fc.string({ unit: 'binary', maxLength: 40 });

function linesOf(log: (logger: ReturnType<typeof createLogger>) => void): Record<string, unknown>[] {
  const lines: string[] = [];
  log(createLogger('test', 'info', { write: (line) => void lines.push(line) }));
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
}

test('a line is JSON with its service, level and time', () => {
  expect(
    linesOf((logger) => {
      logger.info({ port: 1 }, 'listening');
    }),
  ).toEqual([
    {
      level: 'info',
      service: 'test',
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      port: 1,
      msg: 'listening',
    },
  ]);
});

test('a record looks like any other line, comes in order, and tells a token no more than they do', async () => {
  const writes: string[] = [];
  const logger = createLogger('test', 'info', { write: (text) => void writes.push(text) });
  const write = recordWriter(logger);
  const [secretToken] = fc.sample(token, 1);
  const members = { req: { path: `/"x"/${secretToken ?? ''}` }, msg: 'done' };
  write('info', members);
  write('error', { msg: 'second' });
  expect(writes).toEqual([]);
  logger.info(members);
  expect(writes).toHaveLength(1);
  write('info', { msg: 'third' });
  write('info', { msg: 'fourth' });
  while (writes.length < 2) await new Promise(setImmediate);

  const [record, second, line, third, fourth] = writes
    .join('')
    .trim()
    .split('\n')
    .map((text) => JSON.parse(text) as Record<string, unknown>);
  expect(Object.keys(record ?? {})).toEqual(Object.keys(line ?? {}));
  expect({ ...record, time: '' }).toEqual({ ...line, time: '' });
  expect(record?.['time']).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
  expect([second, third, fourth].map((each) => each?.['msg'])).toEqual(['second', 'third', 'fourth']);
  expect(writes.join('')).not.toContain(secretToken?.slice(-71));
});

test('a record below the level isn’t written', () => {
  const writes: string[] = [];
  const logger = createLogger('test', 'error', { write: (text) => void writes.push(text) });
  recordWriter(logger)('info', { msg: 'no' });
  recordWriter(logger)('error', { msg: 'yes' });
  logger.fatal('end');
  expect(writes.join('')).toMatch(/^[^\n]*yes[^\n]*\n[^\n]*end[^\n]*\n$/);
});

test('a token never comes out, wherever it stands', () => {
  fc.assert(
    fc.property(token, surroundings, surroundings, (token, before, after) => {
      const text = before + token + after;
      const lines = linesOf((logger) => {
        logger.info(text);
        logger.error({ err: new Error(text, { cause: new Error(text) }), [text]: text, deep: [{ text }] });
      });
      expect(lines).toHaveLength(2);
      expect(JSON.stringify(lines)).not.toContain(token.slice(-71));
      expect(redact(`https://host/?next=%2F%3Ftoken%3D${token}&x=1`)).not.toContain(token.slice(-71));
    }),
  );
});

test('keys of the payment provider never come out', () => {
  for (const key of [
    'sk_test_4eC39HqLyjWDarjtT1',
    'rk_live_4eC39HqLyjWDarjtT1',
    'whsec_c2VjcmV0LXNlY3JldA==',
  ]) {
    expect(redact(`{"message":"Invalid API Key provided: ${key}"}`)).not.toContain(key.slice(-8));
    expect(redact(JSON.stringify({ message: `Invalid API Key provided:\n${key}` }))).not.toContain(
      key.slice(-8),
    );
    expect(redact(`https://host/?next=%2F%3Fkey%3D${key}`)).not.toContain(key.slice(-8));
  }
});

test('a URL’s password never comes out', () => {
  const password = fc.stringMatching(/^[!#-~]{8,40}$/).map((text) => `${text}hunter2${text}`);
  fc.assert(
    fc.property(
      fc.constantFrom('redis', 'REDISS', 'postgresql', 'https'),
      fc.constantFrom('', 'user', 'us%65r'),
      password,
      (scheme, user, password) => {
        const url = `${scheme}://${user}:${password}@host:6379/0`;
        const text = JSON.stringify(
          linesOf((logger) => {
            logger.error({ err: new Error(`connect to ${url} failed`), url, urls: [url] }, `lost ${url}`);
          }),
        );
        expect(text).not.toContain('hunter2');
        expect(text).toContain(`${scheme}://${user}:[password]@host`);
      },
    ),
  );
});

test('members that hold secrets are redacted two levels deep', () => {
  const members = ['authorization', 'cookie', 'password', 'secret', 'client_secret', 'token', 'access_token'];
  for (const member of members) {
    const value = { [member]: 'hunter2' };
    const text = JSON.stringify(
      linesOf((logger) => {
        logger.info({ ...value, headers: value, req: { headers: value } });
      }),
    );
    expect([member, text]).toEqual([member, expect.not.stringContaining('hunter2')]);
  }
});

test('text without a secret passes unchanged', () => {
  for (const text of [
    'http://auth:4101/oauth2/token',
    'a:b@c',
    'snake_case_name',
    'redis://host:6379 is away',
  ]) {
    expect(redact(text)).toBe(text);
  }
});

test('the longest path that a caller can send takes no time to search', () => {
  const paths = ['a-', 'a', 'a_', 'a://', 'a://:', 'a://b:c', '\\\\'].map((part) =>
    part.repeat(16_384 / part.length),
  );
  const began = process.threadCpuUsage();
  for (const path of paths) redact(path);
  // It takes about 30 ms of CPU time; without bounds on the repetitions, seconds.
  expect(process.threadCpuUsage(began).user).toBeLessThan(1_000_000);
});

test('a secret in a query, a form or a text never comes out, however it is encoded', () => {
  for (const name of [
    'token',
    'access_token',
    'refresh_token',
    'client_secret',
    'Client_Secret',
    'password',
  ]) {
    for (const text of [
      `wss://api.example/graphql?a=1&${name}=hunter2&b=2`,
      `body: grant_type=client_credentials&${name}=hunter2`,
      `/user?next=%2Fx%3F${name}%3Dhunter2%26b%3D2`,
    ]) {
      const lines = linesOf((logger) => {
        logger.error({ err: new Error(text), deep: [{ text }] }, text);
      });
      expect(JSON.stringify(lines)).not.toContain('hunter2');
      expect(JSON.stringify(lines)).toMatch(/a=1|grant_type=client_credentials|next=/);
    }
  }
});

test('a token that was cut, or has something behind it, comes out no more than a whole one', () => {
  const [whole = ''] = fc.sample(token, 1);
  for (const text of [whole.slice(0, -30), `${whole}XYZ`]) {
    expect(redact(`/x/${text}/y`)).toMatch(/^\/x\/[a-z0-9]+_\[token\]\/y$/);
  }
});
