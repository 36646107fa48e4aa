import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { unpackDebianPackages } from '@tollgate/stack/debian-packages';
import { ownEnvironment, requiresPromtool } from './config.ts';

export type Promtool = (...args: string[]) => { ok: boolean; output: string };

/** promtool of this machine. With REQUIRE_PROMTOOL=1 Debian's is unpacked into the cache where there is none. */
export async function findPromtool(logFile: string): Promise<Promtool | null> {
  const installed = promtoolAt('promtool', {});
  if (installed('--version').ok) return installed;
  if (!requiresPromtool()) return null;
  const { root, libraryPath } = await unpackDebianPackages({
    name: 'promtool',
    packages: ['prometheus'],
    probe: { program: 'usr/bin/promtool', args: ['--version'] },
    logFile,
  });
  return promtoolAt(join(root, 'usr/bin/promtool'), { LD_LIBRARY_PATH: libraryPath });
}

function promtoolAt(program: string, env: Readonly<Record<string, string>>): Promtool {
  return (...args) => {
    const { status, stdout, stderr } = spawnSync(program, args, {
      encoding: 'utf8',
      env: { ...ownEnvironment(), ...env },
    });
    return { ok: status === 0, output: `${stdout}${stderr}` };
  };
}
