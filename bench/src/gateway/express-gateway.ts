import { cp, readFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { runCommand } from '@tollgate/stack/process';
import { basic } from '../auth/auth-rates.ts';
import type { Servers } from '../servers.ts';
import type { Peer, PeerSetting } from './peer.ts';
import { programDirectory, startProgram } from './program.ts';

/** Installed on demand from its own lockfile, without install scripts: its dependencies are of 2020. */
export async function expressGateway(
  servers: Servers,
  setting: PeerSetting,
  say: (line: string) => void,
): Promise<Peer> {
  const peer = join(servers.project, 'bench/peers/express-gateway');
  if (!existsSync(join(peer, 'node_modules/.package-lock.json'))) {
    say('express-gateway: installing what its lockfile names …');
    await runCommand({
      name: 'npm ci',
      command: 'npm',
      args: ['ci', '--ignore-scripts', '--no-audit', '--no-fund'],
      env: process.env,
      cwd: peer,
      logFile: join(servers.directory, 'logs/express-gateway-install.log'),
      onSpawn: servers.onSpawn,
    });
  }
  const installed = join(peer, 'node_modules/express-gateway');
  const { version } = JSON.parse(await readFile(join(installed, 'package.json'), 'utf8')) as {
    version: string;
  };
  // It needs its data models beside its settings, and would watch and write there.
  const config = await programDirectory(servers, 'express-gateway');
  await cp(join(peer, 'config'), config, { recursive: true });
  await cp(join(installed, 'lib/config/models'), join(config, 'models'), { recursive: true });
  const { authorization = '' } = basic(setting.clientId, setting.clientSecret);
  const door = await startProgram(servers, {
    name: 'express-gateway',
    place: servers.places?.server,
    command: (port) => ({
      args: [process.execPath, join(peer, 'server.cjs')],
      env: {
        NODE_ENV: 'production',
        LOG_LEVEL: 'error',
        EG_DISABLE_CONFIG_WATCH: 'true',
        CONFIG: config,
        PORT: String(port),
        UPSTREAM: new URL(setting.upstreamUrl).origin,
        INTROSPECTION: setting.introspectionUrl,
        BASIC: authorization,
      },
    }),
  });
  return { door, version, targetRatio: { one: 3 } };
}
