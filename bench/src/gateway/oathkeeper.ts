import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort } from '@tollgate/stack/ports';
import { localUrl } from '@tollgate/stack/service-settings';
import { waitFor } from '@tollgate/stack/wait-for';
import { basic } from '../auth/auth-rates.ts';
import { ORY_ENVIRONMENT, oryVersion } from '../auth/ory.ts';
import { onPath } from '../load/on-path.ts';
import type { Servers } from '../servers.ts';
import type { Peer, PeerSetting } from './peer.ts';
import { fillTemplate, programDirectory, startProgram } from './program.ts';

export async function oathkeeper(servers: Servers, setting: PeerSetting): Promise<Peer> {
  const program = onPath('oathkeeper');
  const version = await oryVersion(servers, 'oathkeeper', program);
  const own = await programDirectory(servers, 'oathkeeper');
  const apiPort = await freePort();
  const metricsPort = await freePort();
  const { authorization = '' } = basic(setting.clientId, setting.clientSecret);
  const door = await startProgram(servers, {
    name: 'oathkeeper',
    place: servers.places?.server,
    command: async (port) => {
      const values = {
        DIRECTORY: own,
        PORT: String(port),
        API_PORT: String(apiPort),
        METRICS_PORT: String(metricsPort),
        INTROSPECTION: setting.introspectionUrl,
        BASIC: authorization,
        UPSTREAM: new URL(setting.upstreamUrl).origin,
      };
      for (const file of ['oathkeeper.yml', 'rules.yml']) {
        const filled = await fillTemplate(servers, `oathkeeper/${file}.template`, values);
        await writeFile(join(own, file), filled, { mode: 0o600 });
      }
      return { args: [program, 'serve', '-c', join(own, 'oathkeeper.yml')], env: ORY_ENVIRONMENT };
    },
  });
  await waitFor(async () => (await fetch(`${localUrl(apiPort)}/health/ready`)).ok, {
    timeoutMs: 20_000,
    what: 'oathkeeper to read its rule',
  });
  return { door, version };
}
