import { runCommand } from '@tollgate/stack/process';
import { join } from 'node:path';
import { onPath } from '../load/on-path.ts';
import type { Servers } from '../servers.ts';

/** One core, and no telemetry. */
export const ORY_ENVIRONMENT = { GOMAXPROCS: '1', SQA_OPT_OUT: 'true' };

/** @throws {Error} if it isn't on the PATH */
export async function findOry(
  { directory, onSpawn }: Servers,
  name: 'hydra' | 'oathkeeper',
): Promise<{ program: string; version: string }> {
  const program = onPath(name);
  const output = await runCommand({
    name,
    command: program,
    args: ['version'],
    env: ORY_ENVIRONMENT,
    onSpawn,
    logFile: join(directory, `logs/${name}-version.log`),
  });
  return { program, version: /Version:\s+(\S+)/.exec(output)?.[1] ?? 'unknown' };
}
