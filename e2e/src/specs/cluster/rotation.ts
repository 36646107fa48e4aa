import { describe, expect, test } from '@jest/globals';
import { randomBytes, randomUUID } from 'node:crypto';
import { eventually, obtainToken } from '../../caller.ts';
import { operate } from '../../operate.ts';
import { unanswered } from '../../load/calls.ts';
import type { ClusterStack } from '../../stack/cluster.ts';
import { readSecret } from '../../stack/cluster/secrets.ts';
import { scaleToTwo, SERVICES } from './replicas.ts';
import { report } from './report.ts';
import { underLoad } from './under-load.ts';

const TIME_LIMIT_MS = 600_000;
/** The kubelet brings a changed Secret into a running pod within about a minute. */
const MOUNTED_TIME_LIMIT_MS = 180_000;

type Keys = Record<string, string>;

/** docs/rotating-secrets.md, step by step, for all secrets at once. */
export function rotation(stack: () => ClusterStack): void {
  const random = () => randomBytes(24).toString('base64url');
  const newKey = (id: string) => `${id}:${randomBytes(32).toString('base64')}`;

  const read = (topic: string) => readSecret(stack().kubectl, topic);
  async function write(topic: string, stringData: Keys): Promise<void> {
    const patch = `--patch=${JSON.stringify({ stringData })}`;
    await stack().kubectl('patch', 'secret', `tollgate-${topic}`, '--type=merge', patch);
  }
  async function restart(): Promise<void> {
    const deployments = SERVICES.map((service) => `deployment/tollgate-${service}`);
    await stack().kubectl('rollout', 'restart', ...deployments);
    for (const each of deployments) await stack().kubectl('rollout', 'status', each, '--timeout=180s');
  }
  const sql = (statement: string) =>
    stack().kubectl(
      'exec',
      'statefulset/tollgate-postgres',
      '--',
      'psql',
      '--username=tollgate',
      '--quiet',
      '--set=ON_ERROR_STOP=1',
      `--command=${statement}`,
    );
  const redis = (script: string) =>
    stack().kubectl('exec', 'statefulset/tollgate-redis', '--', '/bin/sh', '-ec', script);

  /** Status of auth's introspection for a caller on the private listener. */
  async function introspect(id: string, secret: string): Promise<number> {
    const { auth_url } = stack().demo.private;
    const authorization = `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`;
    const body = new URLSearchParams({ token: 'none' });
    return (
      await fetch(`${auth_url}/oauth2/introspect`, { method: 'POST', headers: { authorization }, body })
    ).status;
  }

  describe('rotating every secret', () => {
    test(
      'adds, uses and removes without a refused call; then the old ones open nothing',
      async () => {
        const { demo, kubectl } = stack();
        await scaleToTwo(stack());
        const application = await operate<{
          application_id: number;
          client_id: string;
          client_secret: string;
        }>(...([demo, 'POST', '/private/applications'] as const), {
          account_id: demo.account_id,
          name: 'Rotated',
          type: 'manual',
          token_lifespan_sec: 86_400,
        });
        const tokens = `/private/applications/${String(application.application_id)}/tokens`;
        const token = await operate<{ token_id: number; access_token: string }>(demo, 'POST', tokens, {
          name: 'sealed',
        });

        const old = {
          credentials: await read('service-credentials'),
          peppers: await read('client-secret-peppers'),
          sealing: await read('token-sealing-keys'),
          postgres: await read('postgres'),
          redis: await read('redis'),
        };
        const next = Object.fromEntries(SERVICES.map((service) => [service, random()]));
        const both = (accepts: string) =>
          [
            accepts,
            ...SERVICES.filter((id) => accepts.includes(`${id}:`)).map((id) => `${id}:${next[id] ?? ''}`),
          ].join(' ');
        const onlyNew = (accepts: string) =>
          SERVICES.reduce(
            (text, id) =>
              text.replace(`${id}:${old.credentials[`${id}_secret`] ?? ''}`, `${id}:${next[id] ?? ''}`),
            accepts,
          );
        const accepting = SERVICES.map((service) => `${service}_accepts`);
        const pepper = newKey('p2');
        const sealingKey = newKey('k2');
        const password = random();
        const role = `tollgate_${randomUUID().slice(0, 8)}`;

        const seen = await underLoad(stack(), { callers: 10, pauseMs: 200, sockets: 20 }, async () => {
          // Add: everything accepts the new ones, nothing uses them.
          await write(
            'service-credentials',
            Object.fromEntries(accepting.map((key) => [key, both(old.credentials[key] ?? '')])),
          );
          await write('client-secret-peppers', {
            client_secret_peppers: `${old.peppers['client_secret_peppers'] ?? ''} ${pepper}`,
          });
          await write('token-sealing-keys', {
            token_sealing_keys: `${old.sealing['token_sealing_keys'] ?? ''} ${sealingKey}`,
          });
          await sql(`CREATE ROLE ${role} LOGIN PASSWORD '${password}' IN ROLE tollgate`);
          await sql(`ALTER ROLE ${role} SET role TO tollgate`);
          await redis(
            `REDISCLI_AUTH="$(cat /run/secrets/tollgate/password)" redis-cli ACL SETUSER default '>${password}'`,
          );
          await restart();

          // Use: what they present, write and seal with is new.
          await write(
            'service-credentials',
            Object.fromEntries(SERVICES.map((service) => [`${service}_secret`, next[service] ?? ''])),
          );
          await write('client-secret-peppers', {
            client_secret_peppers: `${pepper} ${old.peppers['client_secret_peppers'] ?? ''}`,
          });
          await write('token-sealing-keys', {
            token_sealing_keys: `${sealingKey} ${old.sealing['token_sealing_keys'] ?? ''}`,
          });
          await write('postgres', {
            database_url: (old.postgres['database_url'] ?? '').replace(
              /\/\/[^@]+@/,
              `//${role}:${password}@`,
            ),
          });
          await write('redis', {
            password,
            redis_url: (old.redis['redis_url'] ?? '').replace(/\/\/:[^@]+@/, `//:${password}@`),
          });
          await restart();
          await kubectl(
            'exec',
            'deployment/tollgate-account',
            '--container=account',
            '--',
            'node',
            '/app/reseal.mjs',
          );

          // Remove: the old ones open nothing.
          await write(
            'service-credentials',
            Object.fromEntries(accepting.map((key) => [key, onlyNew(old.credentials[key] ?? '')])),
          );
          await write('token-sealing-keys', { token_sealing_keys: sealingKey });
          await restart();
          await sql(`ALTER ROLE tollgate PASSWORD '${random()}'`);
          // A changed pod is looked at, with its files, without the minute's wait.
          await kubectl('annotate', 'pod', 'tollgate-redis-0', '--overwrite', `refreshed=${randomUUID()}`);
          await eventually(
            () => redis('cat /run/secrets/tollgate/password'),
            (mounted) => mounted === password,
            MOUNTED_TIME_LIMIT_MS,
          );
          await redis(
            `REDISCLI_AUTH='${password}' redis-cli ACL SETUSER default '<${old.redis['password'] ?? ''}'`,
          );
        });
        report('rotation', seen);

        expect(unanswered(seen.calls)).toEqual({});
        expect(seen.sockets.ended).toEqual([]);
        expect(await introspect('gateway', old.credentials['gateway_secret'] ?? '')).toBe(401);
        expect(await introspect('gateway', next['gateway'] ?? '')).toBe(200);
        await expect(
          redis(`REDISCLI_AUTH='${old.redis['password'] ?? ''}' redis-cli ping | grep PONG`),
        ).rejects.toThrow();
        // By the pod's own address: Postgres trusts its own machine.
        const signIn = `PGPASSWORD='${old.postgres['password'] ?? ''}' psql --host="$(hostname -i)"`;
        await expect(
          kubectl(
            'exec',
            'statefulset/tollgate-postgres',
            '--',
            '/bin/sh',
            '-ec',
            `${signIn} --username=tollgate --command='SELECT 1'`,
          ),
        ).rejects.toThrow('password authentication failed');
        // What was hashed with the first pepper is still right, and what was sealed under the first key is readable.
        await obtainToken(demo, demo.application);
        const copied = await operate<{ access_token: string }>(
          ...([demo, 'POST', `${tokens}/${String(token.token_id)}/copy`] as const),
        );
        expect(copied.access_token).toBe(token.access_token);
      },
      TIME_LIMIT_MS,
    );
  });
}
