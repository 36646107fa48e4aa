import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { withClient } from '@tollgate/stack/postgres';
import { freePort } from '@tollgate/stack/ports';
import { compileCache } from '@tollgate/testbed/config';
import { createDatabase } from '@tollgate/testbed/database';
import { programFile } from '@tollgate/testbed/programs';
import { startRedis } from '@tollgate/testbed/redis';
import { becomeReady, startServiceProcess } from '@tollgate/testbed/service-process';
import type { ServiceProcess } from '@tollgate/testbed/service-process';
import { createProgram } from '../src/program.ts';

/** account and auth as processes over a database and a Redis of their own, and the command as its users have it. */

export type Outcome = { code: number | null; stdout: string; stderr: string };

export type OperatedStack = {
  url: string;
  /** `id:secret` of the operator. */
  credential: string;
  /** Runs the command to its end, against this stack unless the environment says otherwise. */
  run: (
    args: readonly string[],
    changed?: { env?: Readonly<Record<string, string>>; stdin?: string },
  ) => Promise<Outcome>;
  /**
   * What it prints, without a process of its own: starting one is most of what a command costs. Rejects where it would
   * end with another code than 0.
   */
  print: (args: readonly string[]) => Promise<string>;
  /** The answer with --json, in the same way. */
  json: <Body = Record<string, unknown>>(...args: string[]) => Promise<Body>;
  sql: <Row>(statement: string) => Promise<Row[]>;
  databaseUrl: string;
  redisUrl: string;
  account: ServiceProcess;
  auth: ServiceProcess;
  close: () => Promise<void>;
};

export async function startOperatedStack(): Promise<OperatedStack> {
  const [database, redis, authPort, accountPort] = await Promise.all([
    createDatabase(),
    startRedis(),
    freePort(),
    freePort(),
  ]);
  const credential = `suite-operator:${randomBytes(24).toString('base64url')}`;
  const reporter = `suite-reporter:${randomBytes(24).toString('base64url')}`;
  const [account, auth] = await Promise.all([
    startServiceProcess('account', {
      DATABASE_URL: database.url,
      REDIS_URL: redis.url,
      AUTH_PRIVATE_URL: `http://127.0.0.1:${String(authPort)}`,
      OPERATOR_CREDENTIALS: credential,
      OPERATORS_URL: 'http://localhost:4102/operator',
      USAGE_REPORTER_CREDENTIALS: reporter,
      PRIVATE_PORT: String(accountPort),
    }),
    startServiceProcess('auth', {
      REDIS_URL: redis.url,
      ACCOUNT_PRIVATE_URL: `http://127.0.0.1:${String(accountPort)}`,
      PRIVATE_PORT: String(authPort),
    }),
  ]);
  for (const service of [account, auth]) await becomeReady(service);
  const url = account.privateUrl;
  const env = {
    TOLLGATE_URL: url,
    TOLLGATE_CREDENTIAL: credential,
    TOLLGATE_REPORTER_CREDENTIAL: reporter,
  };
  const run: OperatedStack['run'] = (args, changed = {}) =>
    runCommand(args, { ...changed, env: changed.env ?? env });
  const print: OperatedStack['print'] = async (args) => {
    const printed: string[] = [];
    const program = createProgram({
      env,
      print: (lines) => Promise.resolve(void printed.push(...lines)),
    });
    await program.parseAsync([...args], { from: 'user' });
    return printed.join('\n');
  };
  return {
    url,
    credential,
    run,
    print,
    json: async <Body>(...args: string[]) => JSON.parse(await print([...args, '--json'])) as Body,
    sql: (statement) =>
      withClient(
        database.url,
        async (client) => (await client.query<Record<string, unknown>>(statement)).rows as never[],
      ),
    databaseUrl: database.url,
    redisUrl: redis.url,
    account,
    auth,
    close: async () => {
      await Promise.all([account.stop(), auth.stop()]);
      await Promise.all([redis.stop(), database.drop()]);
    },
  };
}

/** The command in a terminal of its own, where `answer` is typed once it asks. Returns what the terminal shows. */
export async function runInTerminal(
  args: readonly string[],
  { env, asks, answer }: { env: Readonly<Record<string, string>>; asks: string; answer: string },
): Promise<string> {
  const command = [process.execPath, programFile('tools/command', 'tollgate'), ...args];
  const quoted = command.map((word) => `'${word}'`).join(' ');
  const child = spawn('/usr/bin/script', ['--quiet', '--command', quoted, '/dev/null'], {
    env: { SHELL: '/bin/sh', ...compileCache(), ...env },
  });
  let shown = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    const wasAsked = shown.includes(asks);
    shown += chunk;
    if (!wasAsked && shown.includes(asks)) child.stdin.write(`${answer}\r`);
  });
  await once(child, 'close');
  return shown;
}

/** The command as a process without a terminal, with these settings and no others. */
export async function runCommand(
  args: readonly string[],
  { env = {}, stdin = '' }: { env?: Readonly<Record<string, string>>; stdin?: string } = {},
): Promise<Outcome> {
  const child = spawn(process.execPath, [programFile('tools/command', 'tollgate'), ...args], {
    env: { ...compileCache(), ...env },
  });
  child.stdin.on('error', () => undefined);
  child.stdin.end(stdin);
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { code: child.exitCode, stdout, stderr };
}
