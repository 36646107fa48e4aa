import { runCommand } from '@tollgate/stack/process';
import { join } from 'node:path';
import type { Servers } from '../servers.ts';

/** One core, and no telemetry. */
export const ORY_ENVIRONMENT = { GOMAXPROCS: '1', SQA_OPT_OUT: 'true' };

/** What the program says of itself. */
export async function oryVersion(
  { directory, onSpawn }: Servers,
  name: 'hydra' | 'oathkeeper',
  program: string,
): Promise<string> {
  const output = await runCommand({
    name,
    command: program,
    args: ['version'],
    env: ORY_ENVIRONMENT,
    onSpawn,
    logFile: join(directory, `logs/${name}-version.log`),
  });
  return /Version:\s+(\S+)/.exec(output)?.[1] ?? 'unknown';
}
