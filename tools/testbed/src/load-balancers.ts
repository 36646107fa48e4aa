import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findDebianProgram } from '@tollgate/stack/debian-program';
import type { Program } from '@tollgate/stack/debian-program';
import { startProcess } from '@tollgate/stack/process';
import type { ManagedProcess } from '@tollgate/stack/process';
import { requiresLoadBalancers, runDirectory } from './config.ts';
import { newDirectory, register } from './run.ts';

/** How to run each in the foreground; file and directory are the process' own. */
const LOAD_BALANCERS = {
  haproxy: { versionArgs: ['-v'], args: (file: string) => ['-db', '-f', file] },
  nginx: {
    versionArgs: ['-v'],
    args: (file: string, directory: string) => [
      '-c',
      file,
      '-p',
      directory,
      '-e',
      'stderr',
      // As root, its workers would run as a user that may not enter the directory.
      '-g',
      `daemon off; user root; pid ${directory}/pid;`,
    ],
  },
};

export type LoadBalancer = keyof typeof LOAD_BALANCERS;

/** That of this machine. With REQUIRE_LOAD_BALANCERS=1 Debian's is unpacked into the cache where there is none. */
export function findLoadBalancer(name: LoadBalancer): Promise<Program | null> {
  return findDebianProgram({
    name,
    debianPackage: name,
    path: `usr/sbin/${name}`,
    versionArgs: LOAD_BALANCERS[name].versionArgs,
    download: requiresLoadBalancers(),
    logFile: join(newDirectory(runDirectory(), `${name}-package`), 'apt.log'),
  });
}

/** Listens some milliseconds later, or exits if the configuration is wrong. */
export async function startLoadBalancer(
  name: LoadBalancer,
  program: Program,
  configuration: (directory: string) => string,
): Promise<ManagedProcess> {
  const directory = newDirectory(runDirectory(), name);
  const file = join(directory, 'configuration');
  writeFileSync(file, configuration(directory));
  return await startProcess({
    name,
    command: program.command,
    args: LOAD_BALANCERS[name].args(file, directory),
    env: program.env,
    logFile: join(directory, 'log'),
    onSpawn: register(runDirectory()),
  });
}
