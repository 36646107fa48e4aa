import { execFileSync } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { createLogger } from '@tollgate/log';
import { openRedis } from '@tollgate/redis';
import type { RedisConnection } from '@tollgate/redis';
import { freePort } from '@tollgate/stack/ports';
import { withClient } from '@tollgate/stack/postgres';
import { waitFor } from '@tollgate/stack/wait-for';
import { clockAhead } from '@tollgate/testbed/clock-ahead';
import { tokenSealingKeys } from '@tollgate/testbed/service-process';
import type { Finding } from '@tollgate/contracts/health-findings/finding';
import { startOperatedStack } from './operated-stack.ts';
import type { OperatedStack } from './operated-stack.ts';

/** `tollgate doctor`, with each fault really made. */

let stack: OperatedStack;
let redis: RedisConnection;
const repairs: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  stack = await startOperatedStack();
  redis = openRedis(stack.redisUrl, createLogger('suite', 'silent'));
  await waitFor(() => redis.status === 'ready');
});

afterEach(async () => {
  for (const repair of repairs.splice(0).toReversed()) await repair();
});

afterAll(async () => {
  redis.disconnect();
  await stack.close();
});

async function examine(...args: string[]) {
  const { code, stdout, stderr } = await stack.run(['doctor', '--json', ...args]);
  const { findings } = JSON.parse(stdout) as { findings: Finding[] };
  const of = (check: string) => findings.filter((finding) => finding.check === check);
  return { code, stderr, findings, of };
}

async function setRedis(name: string, value: string): Promise<void> {
  const [, before = ''] = await redis.config('GET', name);
  await redis.config('SET', name, value);
  repairs.push(() => redis.config('SET', name, before));
}

async function restartAccount(env: Record<string, string>): Promise<void> {
  const start = async (changed: Record<string, string>) => {
    await stack.account.stop();
    await stack.account.restart(changed);
    await waitFor(async () => (await fetch(`${stack.url}/health/ready`)).ok);
  };
  await start(env);
  repairs.push(() => start({}));
}

const problem = (finding: string | RegExp) => ({
  status: 'problem',
  finding: (typeof finding === 'string'
    ? expect.stringContaining(finding)
    : expect.stringMatching(finding)) as unknown,
  action: expect.stringMatching(/\w/) as unknown,
});

test('a healthy stack: no problem, no warning, exit code 0, and words for what was not checked', async () => {
  const { code, findings } = await examine();
  expect(code).toBe(0);
  expect(findings.filter(({ status }) => status !== 'ok' && status !== 'skipped')).toEqual([]);
  for (const check of ['versions', 'schema', 'migrations', 'clocks', 'Redis eviction', 'Redis persistence']) {
    expect(findings).toContainEqual(expect.objectContaining({ check, status: 'ok' }));
  }
  for (const check of ['usage streams', 'outboxes', 'sealing keys', 'reachable']) {
    expect(findings).toContainEqual(expect.objectContaining({ check, status: 'ok' }));
  }
  expect(findings).toContainEqual({
    check: 'gateways',
    status: 'skipped',
    action: null,
    finding: 'No gateway was checked: name their private listeners with --gateway-url.',
  });
});

test('the report holds no secret, and needs an operator', async () => {
  const answer = await fetch(`${stack.url}/private/health-report`, {
    headers: { authorization: `Basic ${Buffer.from(stack.credential).toString('base64')}` },
  });
  const text = await answer.text();
  for (const url of [stack.databaseUrl, stack.redisUrl]) expect(text).not.toContain(new URL(url).password);
  expect(text).not.toContain(tokenSealingKeys.split(':')[1]);
  expect((await fetch(`${stack.url}/private/health-report`)).status).toBe(401);
});

test('a Redis that evicts, keeps nothing, or writes late', async () => {
  await setRedis('maxmemory-policy', 'allkeys-lru');
  await setRedis('appendfsync', 'everysec');
  const evicting = await examine();
  expect([evicting.code, evicting.stderr]).toEqual([1, '1 problem(s) found.\n']);
  expect(evicting.of('Redis eviction')).toMatchObject([problem('maxmemory-policy is allkeys-lru')]);
  expect(evicting.of('Redis persistence')).toMatchObject([{ status: 'warning' }]);
  await setRedis('appendonly', 'no');
  expect((await examine()).of('Redis persistence')).toMatchObject([problem('appendonly is off')]);
});

test('a Redis that is a replica', async () => {
  await redis.replicaof('127.0.0.1', await freePort());
  repairs.push(async () => {
    await redis.replicaof('NO', 'ONE');
    await waitFor(async () => (await fetch(`${stack.url}/health/ready`)).ok);
  });
  // In between account connects anew.
  await waitFor(async () => {
    const [found] = (await examine()).of('Redis role');
    return found?.finding.includes('its role is slave') === true && found.status === 'problem';
  });
});

test('a Postgres that takes no writes', async () => {
  const name = new URL(stack.databaseUrl).pathname.slice(1);
  const setReadOnly = async (value: 'on' | 'off') => {
    await stack.sql(
      `BEGIN READ WRITE; ALTER DATABASE "${name}" SET default_transaction_read_only = ${value}; COMMIT;
       SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE datname = '${name}' AND pid <> pg_backend_pid()`,
    );
  };
  await setReadOnly('on');
  repairs.push(async () => {
    await setReadOnly('off');
    await waitFor(async () => (await fetch(`${stack.url}/health/ready`)).ok);
  });
  await waitFor(async () => (await examine()).of('Postgres writes')[0]?.status === 'problem');
});

test('migrations that are missing, or of a newer version', async () => {
  const [last] = await stack.sql<{ id: number; name: string }>(
    'SELECT * FROM knex_migrations ORDER BY id DESC LIMIT 1',
  );
  await stack.sql(`UPDATE knex_migrations SET name = '9999-newer' WHERE id = ${String(last?.id)}`);
  repairs.push(() =>
    stack.sql(`UPDATE knex_migrations SET name = '${String(last?.name)}' WHERE id = ${String(last?.id)}`),
  );
  const { code, of } = await examine();
  expect(code).toBe(1);
  expect(of('migrations')).toMatchObject([
    problem(`Not applied: ${String(last?.name)}`),
    { status: 'warning', finding: expect.stringContaining('9999-newer') as unknown },
  ]);
});

test.each([
  ['0.0.9', '0.0.1', problem('The schema is that of version 0.0.9, and account is 0.1.0')],
  ['99.0.0', '0.0.1', { status: 'warning', finding: expect.stringContaining('also serves') }],
  ['99.0.0', '98.0.0', problem('does not serve account')],
])('a schema of version %s that serves %s and newer', async (version, oldest, finding) => {
  const [recorded] = await stack.sql<{ version: string; oldest_served_version: string }>(
    'SELECT version, oldest_served_version FROM schema_version',
  );
  const record = (newest = '', served = '') =>
    stack.sql(`UPDATE schema_version SET version = '${newest}', oldest_served_version = '${served}'`);
  repairs.push(() => record(recorded?.version, recorded?.oldest_served_version));
  await record(version, oldest);
  const { of } = await examine();
  expect(of('schema')).toMatchObject([finding]);
});

test('auth away, and a revocation that waits for it in an outbox', async () => {
  const email = `${randomUUID()}@example.com`;
  const { account_id } = await stack.json<{ account_id: number }>(
    'accounts',
    'create',
    '--email',
    email,
    '--name',
    'Ada',
  );
  const { application_id } = await stack.json<{ application_id: number }>(
    'applications',
    'create',
    '--account',
    String(account_id),
    '--name',
    'App',
  );
  await stack.auth.stop();
  repairs.push(async () => {
    await stack.auth.restart();
    await waitFor(async () => (await stack.sql('SELECT FROM client_change_outbox')).length === 0);
  });
  await stack.json('applications', 'revoke', String(application_id), '--yes');
  await stack.sql("UPDATE client_change_outbox SET created_at = created_at - interval '1 hour'");
  const { code, of } = await examine();
  expect(code).toBe(1);
  expect(of('reachable')).toMatchObject([problem("account can't reach auth")]);
  expect(of('outboxes')).toMatchObject([problem('client_change_outbox has 1 row(s)')]);
});

test('secrets under a retired key, and under a key that is gone', async () => {
  const email = `${randomUUID()}@example.com`;
  const { account_id } = await stack.json<{ account_id: number }>(
    'accounts',
    'create',
    '--email',
    email,
    '--name',
    'Ada',
  );
  const { application_id } = await stack.json<{ application_id: number }>(
    'applications',
    'create',
    '--account',
    String(account_id),
    '--name',
    'App',
  );
  await stack.json('tokens', 'create', '--application', String(application_id), '--name', 'laptop');
  const newKey = `k2:${randomBytes(32).toString('base64')}`;
  await restartAccount({ TOKEN_SEALING_KEYS: `${newKey} ${tokenSealingKeys}` });
  expect((await examine()).of('sealing keys')).toMatchObject([
    { status: 'warning', finding: expect.stringMatching(/access_tokens.* key k1/) as unknown },
  ]);
  await restartAccount({ TOKEN_SEALING_KEYS: newKey });
  expect((await examine()).of('sealing keys')).toMatchObject([problem('is not in TOKEN_SEALING_KEYS')]);
});

test('usage that is not counted', async () => {
  await withClient(stack.databaseUrl, async (client) => {
    // Keeps the usage reader from one stream.
    await client.query("BEGIN; SELECT FROM usage_stream_positions WHERE stream = '{s5}:usage' FOR UPDATE");
    await redis.xadd('{s5}:usage', `${String(Date.now() - 300_000)}-1`, 'batch', '{}');
    const { code, of } = await examine();
    expect(code).toBe(1);
    expect(of('usage streams')).toMatchObject([problem('The oldest uncounted usage is 30')]);
    await client.query('ROLLBACK');
  });
  await waitFor(async () => (await redis.xlen('{s5}:usage')) === 0);
});

test('credits that are not settled after a restore, and ledgers that differ', async () => {
  await stack.sql("INSERT INTO usage_restores (stream) VALUES ('{s5}:usage')");
  await stack.sql("INSERT INTO credit_differences (account_id, fault) VALUES (7, 'balance'), (9, 'rest')");
  repairs.push(() => stack.sql('DELETE FROM usage_restores'));
  repairs.push(() => stack.sql('DELETE FROM credit_differences'));
  const { code, of } = await examine();
  expect(code).toBe(1);
  expect(of('credits')).toMatchObject([
    { ...problem('Postgres was restored'), action: 'Run tollgate usage repair --restored.' },
    {
      status: 'warning',
      finding: expect.stringContaining('7, 9') as unknown,
      action: 'Run tollgate credits check --account 7.',
    },
  ]);
});

test('clocks that are apart', async () => {
  await restartAccount(clockAhead(90_000));
  const { of } = await examine();
  expect(of('clocks')).toMatchObject([
    problem(/This machine's clock is (89|90) s behind account's/),
    problem(/account's clock is (89\.9|90\.\d) s ahead of Postgres's/),
    problem(/account's clock is (89\.9|90\.\d) s ahead of Redis's/),
  ]);
});

test.each([
  [[500], 'ok'],
  [[100], 'warning'],
  [[300, 300], 'ok'],
])('plans that allow 500 subscriptions, and gateways that hold %j of a payer: %s', async (held, status) => {
  await stack.sql(
    `INSERT INTO plans (name, description) VALUES ('Many streams', '{"subscription_limit":500}')`,
  );
  repairs.push(() => stack.sql(`DELETE FROM plans WHERE name = 'Many streams'`));
  const gateways = await Promise.all(
    held.map(async (max) => {
      const gateway = createServer((req, res) => {
        res.end(req.url === '/metrics' ? `tollgate_upstream_streams_per_payer_max ${String(max)}\n` : '{}');
      }).listen(0, '127.0.0.1');
      await once(gateway, 'listening');
      repairs.push(() => new Promise((resolve) => gateway.close(resolve)));
      return `http://127.0.0.1:${String((gateway.address() as AddressInfo).port)}`;
    }),
  );
  const { of } = await examine('--gateway-url', ...gateways);
  expect(of('streams')).toMatchObject([{ status }]);
});

test.each([
  ['graphql-schema', 'schema_age_seconds{api_version="v2"} 3.2', []],
  [
    'graphql-schema',
    'schema_age_seconds{service="gateway",api_version="v2"} 400.4',
    [problem('of API v2 for 400 s')],
  ],
  ['graphql-schema', 'schema_unknown_costs{api_version="v2"} 0', []],
  ['graphql-schema', 'schema_unknown_costs{api_version="v2"} 2', [{ status: 'warning' }]],
  ['graphql-read', 'graphql_read 1', []],
  ['graphql-read', 'graphql_read{service="gateway"} 0', [{ status: 'warning' }]],
  ['graphql-documents', 'documents_age_seconds{api_version="v2"} 3.2', []],
  ['graphql-documents', 'documents_age_seconds{api_version="v1"} 121', [problem('of API v1 for 121 s')]],
])('%s: a gateway that states tollgate_%s', async (check, sample, findings) => {
  const gateway = createServer((req, res) => {
    res.end(req.url === '/metrics' ? `# HELP a\ntollgate_${sample}\n` : '{}');
  }).listen(0, '127.0.0.1');
  await once(gateway, 'listening');
  repairs.push(() => new Promise((resolve) => gateway.close(resolve)));
  const url = `http://127.0.0.1:${String((gateway.address() as AddressInfo).port)}`;
  expect((await examine('--gateway-url', url)).of(check)).toMatchObject(findings);
});

test('gateways of another version, unready or away', async () => {
  const gateway = createServer((req, res) => {
    res.statusCode = req.url === '/health/ready' ? 503 : 200;
    res.end(JSON.stringify({ status: 'live', version: '99.0.0' }));
  }).listen(0, '127.0.0.1');
  await once(gateway, 'listening');
  const url = `http://127.0.0.1:${String((gateway.address() as AddressInfo).port)}`;
  const { of } = await examine('--gateway-url', url, 'http://127.0.0.1:9');
  gateway.close();
  expect(of('gateways')).toMatchObject([problem('is not ready'), problem("can't be reached")]);
  expect(of('versions')).toMatchObject([problem('99.0.0')]);
});

test('a certificate that ends soon, and one that has ended', async () => {
  for (const [days, status] of [
    [10, 'warning'],
    [-1, 'problem'],
    [90, 'ok'],
  ] as const) {
    const server = createTlsServer(selfSigned(days), (_req, res) => res.end()).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    await restartAccount({ PUBLIC_URL: `https://localhost:${String(port)}` });
    const found = (await examine()).of('certificates').at(-1);
    server.close();
    expect(found).toMatchObject({ status, finding: expect.stringContaining(`localhost:${String(port)}`) });
  }
});

/** A certificate of yesterday that ends in so many days. */
function selfSigned(days: number): { key: string; cert: string } {
  const directory = mkdtempSync(join(tmpdir(), 'doctor-'));
  const file = (name: string) => join(directory, name);
  const at = (daysAhead: number) =>
    `${new Date(Date.now() + daysAhead * 86_400_000).toISOString().replace(/[-:T]|\..*/g, '')}Z`;
  try {
    execFileSync(
      'openssl',
      [
        'req',
        '-new',
        '-newkey',
        'ec',
        '-pkeyopt',
        'ec_paramgen_curve:P-256',
        '-nodes',
        '-subj',
        '/CN=localhost',
        '-keyout',
        file('key'),
        '-out',
        file('request'),
      ],
      { stdio: 'ignore' },
    );
    return { key: readFileSync(file('key'), 'utf8'), cert: sign(file, at) };
  } finally {
    rmSync(directory, { recursive: true });
  }

  function sign(path: (name: string) => string, atDay: (daysAhead: number) => string): string {
    execFileSync('sh', ['-c', `: > "${path('index')}"; echo 01 > "${path('serial')}"`]);
    const settings = [
      '[ca]',
      'default_ca=d',
      '[d]',
      `database=${path('index')}`,
      `serial=${path('serial')}`,
      `new_certs_dir=${directory}`,
      'default_md=sha256',
      'policy=p',
      '[p]',
      'commonName=supplied',
    ];
    execFileSync('sh', ['-c', `cat > "${path('settings')}"`], { input: settings.join('\n') });
    execFileSync(
      'openssl',
      [
        'ca',
        '-batch',
        '-selfsign',
        '-config',
        path('settings'),
        '-in',
        path('request'),
        '-keyfile',
        path('key'),
        '-out',
        path('cert'),
        '-notext',
        '-startdate',
        atDay(-2),
        '-enddate',
        atDay(days),
      ],
      { stdio: 'ignore' },
    );
    return readFileSync(path('cert'), 'utf8');
  }
}

test('an account that is away: exit code 3', async () => {
  const { code } = await stack.run(['doctor'], {
    env: { TOLLGATE_URL: 'http://127.0.0.1:9', TOLLGATE_CREDENTIAL: stack.credential },
  });
  expect(code).toBe(3);
});
