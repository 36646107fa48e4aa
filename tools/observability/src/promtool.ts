import { spawnSync } from 'node:child_process';
import { findDebianProgram } from '@tollgate/stack/debian-program';
import { requiresPromtool } from './config.ts';

export type Promtool = (...args: string[]) => { ok: boolean; output: string };

/** promtool of this machine. With REQUIRE_PROMTOOL=1 Debian's is unpacked into the cache where there is none. */
export async function findPromtool(logFile: string): Promise<Promtool | null> {
  const program = await findDebianProgram({
    name: 'promtool',
    debianPackage: 'prometheus',
    path: 'usr/bin/promtool',
    versionArgs: ['--version'],
    download: requiresPromtool(),
    logFile,
  });
  if (program === null) return null;
  return (...args) => {
    const { status, stdout, stderr } = spawnSync(program.command, args, {
      encoding: 'utf8',
      env: program.env,
    });
    return { ok: status === 0, output: `${stdout}${stderr}` };
  };
}
