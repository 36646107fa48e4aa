import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Servers } from '../servers.ts';
import { fillTemplate, programDirectory, startProgram } from './program.ts';
import type { Tools } from '../tools.ts';
import type { Door } from './calls.ts';

/** Also serves as the upstream. */
export async function startNginx(
  servers: Servers,
  { nginx, env }: Pick<Tools, 'nginx' | 'env'>,
  setting: { name: string; template: string; place: string | undefined; values: Record<string, string> },
): Promise<Door> {
  const { name, template, place, values } = setting;
  const own = await programDirectory(servers, name);
  const file = join(own, 'nginx.conf');
  return await startProgram(servers, {
    name,
    place,
    command: async (port) => {
      const filled = await fillTemplate(servers, template, { ...values, DIRECTORY: own, PORT: String(port) });
      await writeFile(file, filled, { mode: 0o600 });
      return { args: [nginx, '-p', own, '-c', file, '-e', join(own, 'error.log')], env };
    },
  });
}

const KIB = 1_024;
export const LARGER_ANSWERS = { '64k': 64 * KIB, '1m': KIB * KIB } as const;

/** Off the compared core: 1 KB from memory, and larger files by the header X-Size. */
export async function startUpstream(servers: Servers, tools: Tools): Promise<Door> {
  const own = await programDirectory(servers, 'upstream-nginx');
  // Several parts of a run start such an upstream.
  await mkdir(join(own, 'answers'), { mode: 0o755, recursive: true });
  for (const [size, bytes] of Object.entries(LARGER_ANSWERS)) {
    await writeFile(join(own, 'answers', size), answerOf(bytes), { mode: 0o644 });
  }
  return await startNginx(servers, tools, {
    name: 'upstream-nginx',
    template: 'upstream/nginx.conf',
    place: servers.places?.rest,
    values: { ANSWER: answerOf(KIB) },
  });
}

function answerOf(bytes: number): string {
  const frame = JSON.stringify({ data: { text: '' } });
  return frame.replace('""', `"${'x'.repeat(bytes - frame.length)}"`);
}
