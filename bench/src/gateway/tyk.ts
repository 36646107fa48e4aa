import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort } from '@tollgate/stack/ports';
import { runCommand } from '@tollgate/stack/process';
import { startRedis } from '@tollgate/stack/redis';
import { findRedis } from '@tollgate/stack/redis-program';
import { pin } from '../cores.ts';
import { onPath } from '../load/on-path.ts';
import { until } from '../operator.ts';
import type { Servers } from '../servers.ts';
import type { Peer, PeerSetting } from './peer.ts';
import { fillTemplate, programDirectory, startProgram } from './program.ts';

const ONE_CORE = { GOMAXPROCS: '1' };

/** Never refuse, but are checked for each call. */
const SESSION = {
  org_id: 'bench',
  rate: 1_000_000_000,
  per: 60,
  allowance: 1_000_000_000,
  quota_max: 1_000_000_000_000,
  quota_remaining: 1_000_000_000_000,
  quota_renewal_rate: 2_592_000,
  access_rights: { data: { api_id: 'data', api_name: 'data', versions: ['Default'] } },
};

export async function tyk(
  servers: Servers,
  setting: PeerSetting,
  say: (line: string) => void,
): Promise<Peer> {
  const program = onPath('tyk');
  const { directory, onSpawn } = servers;
  const stated = await runCommand({
    name: 'tyk',
    command: program,
    args: ['version'],
    env: ONE_CORE,
    onSpawn,
    logFile: join(directory, 'logs/tyk-version.log'),
  });
  const own = await programDirectory(servers, 'tyk');
  const apps = await programDirectory(servers, 'tyk/apps');
  const redis = new URL(await startUnsyncedRedis(servers, say));
  const secret = randomBytes(16).toString('hex');
  await writeFile(
    join(apps, 'data.json'),
    await fillTemplate(servers, 'tyk/data.json', { UPSTREAM_URL: setting.upstreamUrl }),
  );
  const door = await startProgram(servers, {
    name: 'tyk',
    place: servers.places?.server,
    command: async (port) => {
      const file = join(own, 'tyk.conf');
      const filled = await fillTemplate(servers, 'tyk/tyk.conf', {
        PORT: String(port),
        SECRET: secret,
        DIRECTORY: own,
        TEMPLATES: join(servers.project, 'bench/peers/tyk/templates'),
        REDIS_HOST: redis.hostname,
        REDIS_PORT: redis.port,
        REDIS_PASSWORD: redis.password,
      });
      await writeFile(file, filled, { mode: 0o600 });
      return { args: [program, 'start', `--conf=${file}`], env: ONE_CORE };
    },
  });
  const key = new URL(`/tyk/keys/${setting.token}`, door.url);
  await until('tyk to take the key', async () => {
    const headers = { 'x-tyk-authorization': secret };
    return (await fetch(key, { method: 'POST', headers, body: JSON.stringify(SESSION) })).ok;
  });
  return {
    door,
    version: /Release version:\s+(\S+)/.exec(stated)?.[1] ?? 'unknown',
    targetRatio: { one: 8 },
  };
}

/** It promises no durability, so that it needn't wait for the disk. */
async function startUnsyncedRedis(
  { directory, onSpawn, places }: Servers,
  say: (line: string) => void,
): Promise<string> {
  const logFile = join(directory, 'logs/tyk-redis.log');
  const { url, process } = await startRedis({
    program: await findRedis({ logFile, say, onSpawn }),
    dataDir: join(directory, 'tyk-redis'),
    port: await freePort(),
    password: randomBytes(16).toString('hex'),
    settings: ['appendonly no'],
    logFile,
    onSpawn,
  });
  pin(process.identity.pid, places?.rest);
  return url;
}
