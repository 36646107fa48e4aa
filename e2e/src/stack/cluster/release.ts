import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { builtImage, POSTGRES_IMAGE, REDIS_IMAGE } from '../images.ts';
import { kubectlIn, runCommand } from './commands.ts';
import type { Kubectl } from './commands.ts';

export const CHART = fileURLToPath(new URL('../../../../k8s/tollgate', import.meta.url));
const DEMO_VALUES = `${CHART}/values/demo.yaml`;
export const RELEASE = 'tollgate';

/** Values of the chart, as values.yaml describes them. */
export type Values = Record<string, unknown>;

/** A namespace of its own, under the restricted Pod Security standard. */
export async function createNamespace(name: string): Promise<Kubectl> {
  const kubectl = kubectlIn(name);
  await kubectl('create', 'namespace', name);
  await kubectl('label', 'namespace', name, 'pod-security.kubernetes.io/enforce=restricted');
  return kubectl;
}

/** Runs helm with values from demo.yaml and these. Rejects with Helm's message. */
export function helm(namespace: string, command: readonly string[], values: Values = {}): Promise<string> {
  return runCommand(
    'helm',
    [...command, '--namespace', namespace, '--values', DEMO_VALUES, '--values', '-'],
    JSON.stringify(values),
  );
}

/** Values for the images of this suite. A stand-in of an image may have other users than the official one. */
export async function imageValues(): Promise<Values> {
  const [tag = ''] = builtImage('gateway').split(':').slice(-1);
  return {
    image: { tag },
    sampleUpstream: { image: { repository: repositoryOf(builtImage('upstream')) } },
    postgres: { image: POSTGRES_IMAGE, ...(await userOf(POSTGRES_IMAGE, 'postgres')) },
    redis: { image: REDIS_IMAGE, ...(await userOf(REDIS_IMAGE, 'redis')) },
  };
}

/** The name of an image without its tag. */
export function repositoryOf(image: string): string {
  return image.split(':')[0] ?? image;
}

async function userOf(image: string, name: string): Promise<{ uid: number; gid: number }> {
  const args = ['run', '--rm', '--network=none', '--entrypoint=id', image, name];
  const { stdout } = await promisify(execFile)('docker', args);
  const { uid, gid } = /uid=(?<uid>\d+).* gid=(?<gid>\d+)/.exec(stdout)?.groups ?? {};
  if (uid === undefined || gid === undefined) throw new Error(`${image} has no user ${name}`);
  return { uid: Number(uid), gid: Number(gid) };
}
