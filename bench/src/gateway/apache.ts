import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Servers } from '../servers.ts';
import type { PeerSetting } from './peer.ts';
import { fillTemplate, programDirectory, startProgram } from './program.ts';
import type { ApacheTools } from '../tools.ts';
import type { Door } from './calls.ts';

/** With the configuration that both share (peers/apache). */
export async function apachePeer(
  name: string,
  servers: Servers,
  { apache, modules, env }: ApacheTools,
  setting: PeerSetting & { template: string },
): Promise<Door> {
  const own = await programDirectory(servers, name);
  const file = join(own, 'apache.conf');
  return await startProgram(servers, {
    name,
    place: servers.places?.server,
    command: async (port) => {
      const shared = { DIRECTORY: own, MODULES: modules, PORT: String(port) };
      const filled = await fillTemplate(servers, setting.template, {
        ...shared,
        APACHE: await fillTemplate(servers, 'apache/apache.conf', shared),
        INTROSPECTION: setting.introspectionUrl,
        CLIENT_ID: setting.clientId,
        CLIENT_SECRET: setting.clientSecret,
        UPSTREAM_URL: setting.upstreamUrl,
      });
      await writeFile(file, filled, { mode: 0o600 });
      return { args: [apache, '-DFOREGROUND', '-f', file], env };
    },
  });
}
