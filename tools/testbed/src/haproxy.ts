import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findDebianProgram } from '@tollgate/stack/debian-program';
import type { Program } from '@tollgate/stack/debian-program';
import { startProcess } from '@tollgate/stack/process';
import { requiresHaproxy, runDirectory } from './config.ts';
import { newDirectory, register } from './run.ts';

/** HAProxy of this machine. With REQUIRE_HAPROXY=1 Debian's is unpacked into the cache where there is none. */
export function findHaproxy(): Promise<Program | null> {
  return findDebianProgram({
    name: 'haproxy',
    debianPackage: 'haproxy',
    path: 'usr/sbin/haproxy',
    versionArgs: ['-v'],
    download: requiresHaproxy(),
    logFile: join(newDirectory(runDirectory(), 'haproxy-package'), 'apt.log'),
  });
}

/** Listens some milliseconds later, or exits if the configuration is wrong. */
export async function startHaproxy(program: Program, configuration: string): Promise<() => Promise<void>> {
  const directory = newDirectory(runDirectory(), 'haproxy');
  const file = join(directory, 'haproxy.cfg');
  writeFileSync(file, configuration);
  const { stop } = await startProcess({
    name: 'HAProxy',
    command: program.command,
    args: ['-db', '-f', file],
    env: program.env,
    logFile: join(directory, 'haproxy.log'),
    onSpawn: register(runDirectory()),
  });
  return async () => {
    await stop();
  };
}
