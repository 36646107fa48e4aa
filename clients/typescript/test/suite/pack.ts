import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const ROOM = 'clients/typescript';

/** What would be published, and an empty project that has it installed. */
export type Packed = { published: string; tarball: string; project: string };

/** Builds and packs the library in a directory. What it needs is this machine's, not a registry's. */
export async function pack(directory: string): Promise<Packed> {
  const published = join(directory, 'package');
  const project = join(directory, 'project');
  for (const file of ['package.json', 'README.md', 'CHANGELOG.md', 'LICENSE'])
    cpSync(join(ROOM, file), join(published, file));
  const tsc = join(ROOM, 'node_modules/typescript/bin/tsc');
  const outDir = join(published, 'dist');
  await run(process.execPath, [tsc, '-p', join(ROOM, 'tsconfig.build.json'), '--outDir', outDir]);
  const { stdout } = await run('npm', ['pack', '--json', '--ignore-scripts'], { cwd: published });
  const [packed] = JSON.parse(stdout) as { filename: string }[];
  const tarball = join(published, packed?.filename ?? '');
  const installed = join(project, 'node_modules/@tollgate/client');
  mkdirSync(installed, { recursive: true });
  await run('tar', ['-xzf', tarball, '-C', installed, '--strip-components=1']);
  symlinkSync(join(process.cwd(), ROOM, 'node_modules/graphql-ws'), join(project, 'node_modules/graphql-ws'));
  writeFileSync(join(project, 'package.json'), '{ "type": "module" }');
  return { published, tarball, project };
}
