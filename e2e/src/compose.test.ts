import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { obtainToken, postGraphql, readUsage, settledUsage } from './caller.ts';
import { composeProject, docker } from './stack/compose.ts';
import type { ComposeProject, InspectedContainer } from './stack/compose.ts';
import { PROJECT } from './stack/images.ts';
import type { Demo } from './stack/stack.ts';

/** docs/containers.md, performed: docker-compose.yml with the documented commands, and its containers looked into. */

const TIME_LIMIT_MS = 600_000;
const QUERY = '{ country(code: "IS") { name } }';

const SERVICES = ['gateway', 'auth', 'account', 'upstream'];
const STORES = ['postgres', 'redis'];
const ONE_SHOT = ['secrets', 'migrate', 'seed'];

let project: ComposeProject;
let demo: Demo;
let containers: Map<string, InspectedContainer>;

beforeAll(async () => {
  project = await composeProject();
  await project.compose('up', '--build', '--wait');
  containers = await project.containers();
  demo = await showDemo();
}, TIME_LIMIT_MS);

afterAll(() => project.compose('down', '--volumes', '--timeout=1'), TIME_LIMIT_MS);

const showDemo = async () => JSON.parse(await project.compose('run', '--rm', '-T', 'show-demo')) as Demo;

const tollgate = (...args: string[]) => project.compose('exec', '-T', 'account', 'tollgate', ...args);

function container(service: string): InspectedContainer {
  const found = containers.get(service);
  if (found === undefined) throw new Error(`There is no container of ${service}.`);
  return found;
}

/** What a command in a container prints. */
const inside = (service: string, ...command: string[]) => docker('exec', container(service).Id, ...command);

const WITH_OPERATORS = ['-f', 'docker-compose.yml', '-f', 'docker-compose.operators.yml'];

/** docs/containers.md, "The operators' console". */
async function expectOperatorsConsole(): Promise<void> {
  const port = String(project.ports.operators);
  const account = (await project.containers()).get('account');
  expect(account?.NetworkSettings.Ports['4102/tcp']).toEqual([{ HostIp: '127.0.0.1', HostPort: port }]);
  const url = `http://localhost:${port}/operator`;
  const page = await fetch(`${url}/`, { headers: { accept: 'text/html' } });
  expect([page.status, page.headers.get('content-type')]).toEqual([
    200,
    expect.stringContaining('text/html'),
  ]);
  const grace = ['--role', 'admin', '--name', 'Grace', '--email', 'grace@example.com'];
  expect(await tollgate('operators', 'create', ...grace)).toContain(`${url}/#enrol=`);
}

const filesIn = async (service: string, folder: string) => {
  const list = STORES.includes(service)
    ? ['ls', '-A', folder]
    : ['node', '--print', `require('fs').readdirSync('${folder}').join('\\n')`];
  return (await inside(service, ...list)).trim().split('\n').sort();
};

describe('docker compose up --build --wait', () => {
  test('starts every service, healthy by its own check, after the one-shot programs have ended well', () => {
    expect([...containers.keys()].sort()).toEqual([...SERVICES, ...STORES, ...ONE_SHOT].sort());
    for (const service of [...SERVICES, ...STORES]) {
      expect([service, container(service).State.Health?.Status]).toEqual([service, 'healthy']);
    }
    for (const service of ONE_SHOT) {
      expect([service, container(service).State]).toMatchObject([service, { Status: 'exited', ExitCode: 0 }]);
    }
  });

  test("serves the first call's commands with the output of show-demo", async () => {
    const guide = readFileSync(join(PROJECT, 'docs/guides/first-call.md'), 'utf8');
    const commands = /```sh\n([^]*?)```/.exec(guide)?.[1] ?? '';
    const directory = mkdtempSync(join(tmpdir(), 'tollgate-compose-'));
    mkdirSync(join(directory, '.tollgate'));
    writeFileSync(join(directory, '.tollgate/demo.json'), JSON.stringify(demo));
    const PATH = [dirname(process.execPath), process.env['PATH']].join(delimiter);
    const { stdout } = await promisify(execFile)('sh', ['-ec', commands], {
      cwd: directory,
      env: { ...process.env, PATH },
    });
    rmSync(directory, { recursive: true });
    expect(stdout).toMatch(/^HTTP\/1\.1 200 OK\r$/m);
    expect(stdout).toMatch(/^x-points-cost: \d+\r$/im);
    expect(stdout).toContain('"name":"Switzerland"');
    expect(stdout).toContain('"billing_period"');
  });

  test('takes the overrides that docs/containers.md shows', async () => {
    const page = readFileSync(join(PROJECT, 'docs/containers.md'), 'utf8');
    const blocks = [...page.matchAll(/^```yaml\n([^]*?)^```/gm)].map(([, block = '']) => block);
    expect(blocks).toHaveLength(2);
    const directory = mkdtempSync(join(tmpdir(), 'tollgate-compose-'));
    for (const [index, block] of blocks.entries()) {
      const file = join(directory, `${String(index)}.yml`);
      writeFileSync(file, block);
      await project.compose('-f', 'docker-compose.yml', '-f', file, 'config', '--quiet');
    }
    rmSync(directory, { recursive: true });
  });

  test('takes settings of operators from the environment, and leaves others to their defaults', () => {
    const { Env } = container('account').Config;
    expect(Env).toContain('FOUR_EYES_EXEMPT=operator');
    // The others are names without a value: not set.
    expect(Env.filter((setting) => /^OPERATORS_\w+=/.test(setting))).toEqual([
      `OPERATORS_URL=http://localhost:${String(project.ports.operators)}/operator`,
    ]);
  });

  test("has the operators' command in account's container", async () => {
    expect(await tollgate('plans', 'list')).toMatch(/\bStarter\b/);
    // Fails if a check finds something.
    expect(await tollgate('doctor')).not.toBe('');
  });
});

describe('its containers', () => {
  test('see the secret files that they read, and no other', async () => {
    for (const service of [...SERVICES, ...STORES]) {
      const { Env, Cmd, Healthcheck } = container(service).Config;
      const settings = JSON.stringify([Env, Cmd, Healthcheck]);
      const read = new Set([...settings.matchAll(/\/run\/secrets\/([a-z_.]+)/g)].map(([, file]) => file));
      const seen = service === 'upstream' ? [] : await filesIn(service, '/run/secrets');
      expect([service, seen]).toEqual([service, [...read].sort()]);
    }
  });

  test('have the volumes that they need, of secrets each its own', () => {
    const mounts = (service: string) =>
      container(service)
        .Mounts.filter(({ Type }) => Type !== 'tmpfs')
        .map(({ Name = '', Destination, RW }) =>
          [Name.replace(`${project.name}_`, ''), Destination, RW ? 'rw' : 'ro'].join(':'),
        )
        .sort();
    const made = ['account', 'all', 'auth', 'gateway', 'postgres', 'redis'];
    expect(Object.fromEntries([...containers.keys()].map((service) => [service, mounts(service)]))).toEqual({
      gateway: ['secrets-gateway:/run/secrets:ro'],
      auth: ['secrets-auth:/run/secrets:ro'],
      account: ['mail:/mail:rw', 'secrets-account:/run/secrets:ro'],
      upstream: [],
      postgres: ['postgres-data:/var/lib/postgresql/data:rw', 'secrets-postgres:/run/secrets:ro'],
      redis: ['redis-data:/data:rw', 'secrets-redis:/run/secrets:ro'],
      migrate: ['secrets-account:/run/secrets:ro'],
      seed: ['demo:/demo:rw', 'secrets-account:/run/secrets:ro'],
      secrets: [
        'demo:/secrets/demo:rw',
        'mail:/mail:rw',
        ...made.map((reader) => `secrets-${reader}:/secrets/${reader}:rw`),
      ],
    });
  });

  test('publish the public listeners on 127.0.0.1, and nothing else', () => {
    const published = [...containers].flatMap(([service, { NetworkSettings }]) =>
      Object.entries(NetworkSettings.Ports).flatMap(([port, bindings]) =>
        (bindings ?? []).map(({ HostIp, HostPort }) => [service, port, HostIp, Number(HostPort)]),
      ),
    );
    const { account, auth, gateway } = project.ports;
    expect(published.sort()).toEqual([
      ['account', '4002/tcp', '127.0.0.1', account],
      ['auth', '4001/tcp', '127.0.0.1', auth],
      ['gateway', '4000/tcp', '127.0.0.1', gateway],
    ]);
  });

  test('have a read-only root file system, no capability, and get no new privileges', async () => {
    for (const [service, { HostConfig }] of containers) {
      expect([service, HostConfig]).toMatchObject([
        service,
        { ReadonlyRootfs: true, CapDrop: ['ALL'], SecurityOpt: ['no-new-privileges:true'] },
      ]);
    }
    const readStatus = "require('fs').readFileSync('/proc/1/status', 'utf8')";
    for (const service of SERVICES) {
      const status = await inside(service, 'node', '--print', readStatus);
      expect(status).toMatch(/^NoNewPrivs:\t1$/m);
      expect(status).toMatch(/^CapEff:\t0+$/m);
      expect(status).toMatch(/^Uid:\t1000\t/m);
    }
    for (const service of STORES) {
      const status = await inside(service, 'cat', '/proc/1/status');
      expect(status).toMatch(/^NoNewPrivs:\t1$/m);
      expect(status).toMatch(/^CapEff:\t0+$/m);
      expect(status).not.toMatch(/^Uid:\t0\t/m);
      await expect(inside(service, 'touch', '/etc/file')).rejects.toThrow('Read-only file system');
    }
  });

  test('on the internal network alone have no way out of it', async () => {
    const address = container('auth').NetworkSettings.Networks[`${project.name}_edge`]?.IPAddress ?? '';
    expect(address).not.toBe('');
    // Engines differ in whether they refuse such a connection or drop its packets.
    const call = `fetch('http://${address}:4001/health/live', { signal: AbortSignal.timeout(3_000) })
      .then(({ status }) => console.log(status), () => console.log('unreachable'))`;
    const outcome = async (service: string) => (await inside(service, 'node', '--eval', call)).trim();
    expect(await outcome('gateway')).toMatch(/^\d{3}$/);
    expect(await outcome('upstream')).toBe('unreachable');
    const networks = (service: string) => Object.keys(container(service).NetworkSettings.Networks);
    for (const service of ['upstream', ...STORES]) {
      expect(networks(service)).toEqual([`${project.name}_backend`]);
    }
  });

  test('have no secret in their settings or logs', async () => {
    const secrets = new Set([
      demo.application.client_secret,
      demo.console.password,
      demo.private.client_secret,
    ]);
    for (const service of ['gateway', 'auth', 'account']) {
      for (const file of await filesIn(service, '/run/secrets')) {
        const content = await inside(
          service,
          'node',
          '--print',
          `require('fs').readFileSync('/run/secrets/${file}', 'utf8')`,
        );
        secrets.add(content.trim());
      }
    }
    const logs = await project.compose('logs', '--no-color');
    expect(logs).not.toBe('');
    for (const text of [JSON.stringify([...containers.values()]), logs]) {
      expect([...secrets].filter((secret) => text.includes(secret))).toEqual([]);
    }
  });
});

test(
  'down keeps the data for the next up; down --volumes forgets it',
  async () => {
    const token = await obtainToken(demo, demo.application);
    const before = (await settledUsage(demo, token)).billing_period.usage.requests_usage;
    expect((await postGraphql(demo, token, QUERY)).status).toBe(200);
    await tollgate('plans', 'create', '--name', 'Kept', '--limit-points', '1000');

    await project.compose('down');
    await project.compose(...WITH_OPERATORS, 'up', '--wait');
    expect(await showDemo()).toEqual(demo);
    await expectOperatorsConsole();
    expect(await tollgate('plans', 'list')).toMatch(/\bKept\b/);
    expect((await postGraphql(demo, token, QUERY)).status).toBe(200);
    expect((await readUsage(demo, token)).billing_period.usage.requests_usage).toBeGreaterThan(before);

    await project.compose('down', '--volumes');
    expect(await project.remains()).toEqual([]);
    await expect(showDemo()).rejects.toThrow('The sample accounts are not made yet.');
  },
  TIME_LIMIT_MS,
);
