import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { ownEnvironment } from './config.ts';
import { unpackDebianPackages } from './debian-packages.ts';

export type Program = { command: string; env: NodeJS.ProcessEnv };

export type DebianProgramOptions = {
  name: string;
  debianPackage: string;
  /** In the package. */
  path: string;
  /** With which it prints its version. */
  versionArgs: readonly string[];
  /** Unpacks Debian's into the cache where none is installed. */
  download: boolean;
  logFile: string;
};

/**
 * A program of this machine that suites only use where there is one.
 * @throws {Error} if Debian's has to be downloaded and can't be
 */
export async function findDebianProgram(options: DebianProgramOptions): Promise<Program | null> {
  const { name, path, versionArgs } = options;
  const env = ownEnvironment();
  if (spawnSync(name, versionArgs, { env, stdio: 'ignore' }).status === 0) return { command: name, env };
  if (!options.download) return null;
  const { root, libraryPath } = await unpackDebianPackages({
    name,
    packages: [options.debianPackage],
    probe: { program: path, args: versionArgs },
    logFile: options.logFile,
  });
  return { command: join(root, path), env: { ...env, LD_LIBRARY_PATH: libraryPath } };
}
