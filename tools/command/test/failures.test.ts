import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '@tollgate/stack/ports';
import { exitCodeOf } from '../src/failures.ts';
import { createProgram } from '../src/program.ts';
import { runCommand, startOperatedStack } from './operated-stack.ts';
import type { OperatedStack } from './operated-stack.ts';

let stack: OperatedStack;
let directory: string;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'tollgate-command-'));
  stack = await startOperatedStack();
});

afterAll(async () => {
  rmSync(directory, { recursive: true });
  await stack.close();
});

const credential = 'someone:secret-of-someone-else';

describe('the API refuses: 1', () => {
  test('and every faulty field is named', async () => {
    const refused = await stack.run(['accounts', 'create', '--email', 'nobody', '--name', ' ']);
    expect([refused.code, refused.stdout]).toEqual([1, '']);
    expect(refused.stderr).toMatch(
      /\(invalid_request\)\n {2}email: must .*\n {2}name: must .*\n {2}request /,
    );
    const json = await stack.run(['accounts', 'create', '--email', 'nobody', '--name', ' ', '--json']);
    expect([json.code, JSON.parse(json.stderr)]).toEqual([
      1,
      expect.objectContaining({ code: 'invalid_request' }),
    ]);
  });

  test('and a wrong credential is called so, and not repeated', async () => {
    const { code, stderr } = await stack.run(['plans', 'list'], {
      env: { TOLLGATE_URL: stack.url, TOLLGATE_CREDENTIAL: credential },
    });
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining('not in the account service’s OPERATOR_CREDENTIALS'),
    ]);
    expect(stderr).not.toContain('secret-of-someone-else');
  });
});

describe('the command line is wrong: 2', () => {
  test.each([
    [['plans', 'get', '0'], 'It must be an ID'],
    [['plans', 'get'], 'missing required argument'],
    [['plans', 'list', '--limit', '201'], 'It must be 1 to 200'],
    [['plans', 'create'], "required option '--name <name>'"],
    [['periods', 'create', '--start', '2026-02-30T00:00:00Z'], 'RFC 3339'],
    [['subscriptions', 'create', '--interval', 'week'], 'Allowed choices'],
    [['tokens', 'list'], 'Specify either --application or --account'],
    [['audit', 'list', '--from', 'yesterday'], 'RFC 3339'],
    [['seed', '--accounts', '1001'], 'at most 1000'],
  ])('%j', async (args, message) => {
    const program = createProgram();
    for (const group of program.commands) {
      for (const command of [group, ...group.commands])
        command.configureOutput({ writeErr: () => undefined });
    }
    const fault = await program.parseAsync(args, { from: 'user' }).then(
      () => undefined,
      (error: unknown) => error,
    );
    expect(fault).toMatchObject({ message: expect.stringContaining(message) });
    expect(exitCodeOf(fault)).toBe(2);
  });

  test('as a process, which says so on stderr alone', async () => {
    for (const [args, message] of [
      [['plans', 'lst'], 'Did you mean list?'],
      [['plans', 'create', '--name', 'x', '--description-file', '/nowhere.json'], 'cannot be read as JSON'],
      [['plans', 'list', '--url', 'http://someone:secret@127.0.0.1'], 'without user or password'],
    ] as const) {
      const { code, stdout, stderr } = await stack.run(args);
      expect([code, stdout, stderr]).toEqual([2, '', expect.stringContaining(message)]);
    }
  });

  test('where something would be lost and nobody can be asked', async () => {
    for (const args of [
      ['accounts', 'block', '1'],
      ['plans', 'create', '--name', 'Unlimited'],
      ['periods', 'end', '1'],
      ['subscriptions', 'cancel', '1'],
      ['applications', 'delete', '1'],
      ['usage', 'rebuild', '1'],
    ]) {
      const { code, stdout, stderr } = await stack.run(args);
      expect([args, code, stdout, stderr]).toEqual([args, 2, '', expect.stringContaining('Add --yes')]);
    }
    expect(await stack.sql(`SELECT FROM audit_log WHERE action = 'account_blocked'`)).toEqual([]);
  });

  test('where it isn’t said whom to ask, or an address and a credential are of two stacks', async () => {
    const env = { TOLLGATE_DIR: directory };
    expect(await runCommand(['plans', 'list'], { env })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('TOLLGATE_URL'),
    });
    for (const one of [{ TOLLGATE_URL: stack.url }, { TOLLGATE_CREDENTIAL: credential }]) {
      expect(await runCommand(['plans', 'list'], { env: { ...env, ...one } })).toMatchObject({ code: 2 });
    }
  });
});

describe('nobody answers: 3', () => {
  test('where nothing listens', async () => {
    const env = {
      TOLLGATE_URL: `http://127.0.0.1:${String(await freePort())}`,
      TOLLGATE_CREDENTIAL: credential,
    };
    const { code, stderr } = await runCommand(['plans', 'list'], { env });
    expect([code, stderr]).toEqual([3, expect.stringContaining('ECONNREFUSED')]);
  });

  test('where something else listens, or nothing is answered in time', async () => {
    const server = createServer((req, res) => {
      if (req.url?.startsWith('/private/plans') === true) res.end('<html>');
      else if (req.url?.startsWith('/private/products') === true) res.writeHead(302, { location: '/' }).end();
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const env = { TOLLGATE_URL: `http://127.0.0.1:${String(port)}`, TOLLGATE_CREDENTIAL: credential };
    const other = await runCommand(['plans', 'list'], { env });
    expect([other.code, other.stderr]).toEqual([3, expect.stringContaining("not Tollgate's private API")]);
    expect((await runCommand(['products', 'list'], { env })).code).toBe(3);
    const silent = await runCommand(['accounts', 'list', '--timeout', '0.2'], { env });
    expect([silent.code, silent.stderr]).toEqual([3, expect.stringContaining('no answer within 0.2 s')]);
    server.closeAllConnections();
    server.close();
  });
});

test('the credential can be a file, by an option or a setting, of which the first line counts', async () => {
  const file = join(directory, 'credential');
  writeFileSync(file, `${stack.credential}\nsecond:another-one-entirely\n`, { mode: 0o600 });
  const byOption = await runCommand(['plans', 'list', '--credential-file', file, '--url', stack.url], {});
  expect([byOption.code, byOption.stderr]).toEqual([0, '']);
  const bySetting = { TOLLGATE_URL: stack.url, TOLLGATE_CREDENTIAL_FILE: file };
  expect((await runCommand(['plans', 'list'], { env: bySetting })).code).toBe(0);
});

test('the stack of npm start is taken where nothing is said', async () => {
  const [client_id = '', client_secret = ''] = stack.credential.split(':');
  const demo = {
    account_id: 1,
    member: { account_id: 2 },
    console: { url: 'http://127.0.0.1/user', email: 'manager@example.com', password: 'x' },
    private: { account_url: stack.url, client_id, client_secret },
  };
  writeFileSync(join(directory, 'demo.json'), JSON.stringify(demo));
  const env = { TOLLGATE_DIR: directory };
  expect((await runCommand(['plans', 'list', '--json'], { env })).code).toBe(0);
  // Its credential goes nowhere else.
  const elsewhere = await runCommand(['plans', 'list', '--url', 'http://127.0.0.1:1'], { env });
  expect([elsewhere.code, elsewhere.stderr]).toEqual([2, expect.stringContaining('no credential')]);
  rmSync(join(directory, 'demo.json'));
});

test('a reader that has seen enough ends it without a word', async () => {
  await stack.json('plans', 'create', '--name', 'One at least', '--yes');
  const command = [join(import.meta.dirname, '../src/tollgate.ts'), 'plans', 'list', '--all', '--json'];
  const child = spawn(process.execPath, command, {
    env: { TOLLGATE_URL: stack.url, TOLLGATE_CREDENTIAL: stack.credential },
  });
  child.stdout.destroy();
  const closed = once(child, 'close');
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  const [code] = (await closed) as [number];
  expect([code, stderr]).toEqual([0, '']);
});
