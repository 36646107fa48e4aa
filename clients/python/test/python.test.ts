import { execFile } from 'node:child_process';
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startStack } from '@tollgate/testbed/customer-stack';
import type { Application, Stack } from '@tollgate/testbed/customer-stack';
import { findPython } from '@tollgate/testbed/python';

const run = promisify(execFile);
const ROOM = resolve('clients/python');
const MAX_WHEEL_BYTES = 32_768;

let python: string | null;
let directory: string;
/** Where the wheel is installed: the suites run what would be published. */
let installed: string;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'tollgate-python-'));
  installed = join(directory, 'installed');
  python = await findPython(join(ROOM, 'tests/requirements.txt'));
  if (python === null) return;
  // What is published: the wheel is built from the sdist.
  await runPython(['-m', 'build', '--no-isolation', '--outdir', join(directory, 'dist')]);
  const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--no-deps'];
  await runPython([...pip, '--target', installed, ...globSync(join(directory, 'dist/*.whl'))]);
}, 300_000);

afterAll(() => {
  rmSync(directory, { recursive: true });
});

/** Its output, also in the error of one that fails. */
async function runPython(args: string[], more: Record<string, string> = {}): Promise<string> {
  const env = { PATH: process.env['PATH'], PYTHONDONTWRITEBYTECODE: '1', PYTHONPATH: installed, ...more };
  try {
    return (await run(python ?? '', args, { cwd: ROOM, env, timeout: 280_000 })).stdout;
  } catch (error) {
    const { stdout, stderr } = error as { stdout?: string; stderr?: string };
    throw new Error(`python ${args.join(' ')}\n${stdout ?? ''}${stderr ?? ''}`, { cause: error });
  }
}

const pytest = (args: string[], env?: Record<string, string>) =>
  runPython(['-m', 'pytest', '-q', '-p', 'no:cacheprovider', ...args], env);

describe('the Python library', () => {
  test('its types hold, strictly', async () => {
    if (python === null) return;
    expect(await runPython(['-m', 'mypy', '--cache-dir', join(directory, 'mypy')])).toContain('no issues');
  }, 300_000);

  test('its lint and its format hold', async () => {
    if (python === null) return;
    await runPython(['-m', 'ruff', 'check', '--no-cache']);
    await runPython(['-m', 'ruff', 'format', '--check', '--no-cache']);
  });

  test.each([
    ['httpx2', []],
    ['httpx', ['tests/test_misbehaving_servers.py', 'tests/test_client.py', 'tests/test_proxies.py']],
  ])(
    'it holds against servers that misbehave, with %s',
    async (http, suites) => {
      if (python === null) return;
      expect(await pytest(suites, { TOLLGATE_TEST_HTTP: http })).toMatch(/\d+ passed/);
    },
    300_000,
  );

  test('twine has nothing to say of what would be published', async () => {
    if (python === null) return;
    const files = globSync(join(directory, 'dist/*'));
    expect(files.map((file) => /\.(?:whl|tar\.gz)$/.exec(file)?.[0]).toSorted()).toEqual(['.tar.gz', '.whl']);
    expect(await runPython(['-m', 'twine', 'check', '--strict', ...files])).not.toMatch(
      /WARNING|ERROR|FAILED/,
    );
  });

  test('the wheel is small, and has its types and its licence', () => {
    if (python === null) return;
    const [wheel = ''] = globSync(join(directory, 'dist/*.whl'));
    expect(readFileSync(wheel).length).toBeLessThan(MAX_WHEEL_BYTES);
    expect(existsSync(join(installed, 'tollgate_client/py.typed'))).toBe(true);
    const [metadata = ''] = globSync(join(installed, 'tollgate_client-*.dist-info/METADATA'));
    expect(readFileSync(metadata, 'utf8')).toMatch(/^License-Expression: Apache-2\.0$/m);
    expect(globSync(join(installed, 'tollgate_client-*.dist-info/licenses/LICENSE'))).toHaveLength(1);
  });
});

describe('against the real stack', () => {
  const LIMITS = {
    points_limit: 1_000_000,
    rate_limit: 100_000,
    session_limit: 2_000,
    subscription_limit: 10,
  };
  let stack: Stack | undefined;
  let applications: Record<string, Application>;

  beforeAll(async () => {
    if (python === null) return;
    const started = await startStack();
    stack = started;
    const plans: [string, Record<string, number>, number?][] = [
      ['limited', { points_limit: 1_000, rate_limit: 60 }],
      ['wide', LIMITS],
      ['empty', { points_limit: 0 }],
      ['revoked', LIMITS],
      ['shortLived', LIMITS, 60],
      ['oneSubscription', { ...LIMITS, subscription_limit: 1 }],
      ['noSubscription', { ...LIMITS, subscription_limit: 0 }],
      ['readme', { points_limit: 1_000 }],
    ];
    applications = Object.fromEntries(
      await Promise.all(
        plans.map(async ([name, limits, lifespanSec]) => [
          name,
          await started.newApplication(limits, lifespanSec),
        ]),
      ),
    ) as Record<string, Application>;
  }, 300_000);

  afterAll(async () => {
    await stack?.stop();
  });

  /** What the Python suite asks for by a file, which is removed when it is done. */
  function serveRequests(): () => Promise<void> {
    const actions: Record<string, () => Promise<unknown> | undefined> = {
      revoke: () => applications['revoked'] && stack?.revoke(applications['revoked']),
      restart: () => stack?.gateway.stop().then(() => stack?.gateway.restart()),
    };
    const done: Promise<unknown>[] = [];
    const timer = setInterval(() => {
      for (const [name, act] of Object.entries(actions)) {
        const file = join(directory, name);
        if (!existsSync(file)) continue;
        Reflect.deleteProperty(actions, name);
        done.push(
          Promise.resolve(act()).then(() => {
            rmSync(file);
          }),
        );
      }
    }, 50);
    return async () => {
      clearInterval(timer);
      await Promise.all(done);
    };
  }

  test('the library holds', async () => {
    if (stack === undefined) return;
    const stop = serveRequests();
    try {
      const known = JSON.stringify({ url: stack.url, applications, directory });
      expect(await pytest(['tests/test_stack.py'], { TOLLGATE_STACK: known })).toMatch(/\d+ passed/);
    } finally {
      await stop();
    }
  }, 300_000);

  test('a hundred callers at once make one token request', async () => {
    if (stack === undefined) return;
    const before = await stack.metric(stack.auth, 'tollgate_tokens_issued_total');
    const program = `
import asyncio, os
from tollgate_client import AsyncClient
async def main():
    async with AsyncClient(os.environ["URL"], client_id=os.environ["ID"], client_secret=os.environ["SECRET"]) as client:
        await asyncio.gather(*(client.request('{ country(code: "JP") { name } }') for _ in range(100)))
asyncio.run(main())`;
    const { clientId = '', clientSecret = '' } = applications['wide'] ?? {};
    await runPython(['-c', program], { URL: stack.url, ID: clientId, SECRET: clientSecret });
    expect(await stack.metric(stack.auth, 'tollgate_tokens_issued_total')).toBe(before + 1);
  }, 300_000);

  const blocks = [...readFileSync(join(ROOM, 'README.md'), 'utf8').matchAll(/^```python\n([^]*?)^```/gm)];
  const OUTPUTS = [
    /^Switzerland: 2 points, \d+ left\n$/,
    /^Switzerland\n$/,
    /^The API says: Cannot query field "noSuchField"/,
    /^(?:[^\n]+\n){3}$/,
    /^\d+ of 1000\n0 points in addition\n$/,
    /^Japan\n$/,
  ];

  test('each code block of the README has an output here', () => {
    expect(blocks).toHaveLength(OUTPUTS.length);
  });

  test.each(OUTPUTS.map((output, index) => [index, output] as const))(
    'block %d of the README runs',
    async (index, output) => {
      if (stack === undefined) return;
      const { clientId = '', clientSecret = '' } = applications['readme'] ?? {};
      const env = {
        TOLLGATE_URL: stack.url,
        TOLLGATE_CLIENT_ID: clientId,
        TOLLGATE_CLIENT_SECRET: clientSecret,
      };
      expect(await runPython(['-c', blocks[index]?.[1] ?? ''], env)).toMatch(output);
    },
  );
});
