import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { promisify } from 'node:util';
import { freePort } from '@tollgate/stack/ports';
import { PROJECT, TAG } from './images.ts';

const OUTPUT_MAX_BYTES = 64 * 1024 * 1024;

/** A container of the project as the engine knows it: what of `docker inspect` the suite looks at. */
export type InspectedContainer = {
  Id: string;
  Config: {
    Env: string[];
    Cmd: string[] | null;
    Labels: Record<string, string>;
    Healthcheck?: { Test: string[] };
  };
  HostConfig: { ReadonlyRootfs: boolean; CapDrop: string[] | null; SecurityOpt: string[] | null };
  Mounts: { Type: string; Name?: string; Destination: string; RW: boolean }[];
  NetworkSettings: {
    Ports: Record<string, { HostIp: string; HostPort: string }[] | null>;
    Networks: Record<string, { IPAddress: string }>;
  };
  State: { Status: string; ExitCode: number; Health?: { Status: string } };
};

export type ComposeProject = {
  name: string;
  ports: { gateway: number; auth: number; account: number; operators: number };
  /** `docker compose …`; returns stdout, and throws with stderr if it fails. */
  compose: (...args: string[]) => Promise<string>;
  /** By service, those that have ended too. */
  containers: () => Promise<Map<string, InspectedContainer>>;
  /** Names of the volumes and networks that the project has left. */
  remains: () => Promise<string[]>;
};

/** docker-compose.yml as a project of its own, on free ports: another one on this machine isn't disturbed. */
export async function composeProject(): Promise<ComposeProject> {
  const name = `tollgate-e2e-${randomUUID().slice(0, 8)}`;
  const ports = {
    gateway: await freePort(),
    auth: await freePort(),
    account: await freePort(),
    operators: await freePort(),
  };
  const env = {
    ...process.env,
    COMPOSE_PROJECT_NAME: name,
    TOLLGATE_TAG: TAG,
    GATEWAY_PORT: String(ports.gateway),
    AUTH_PORT: String(ports.auth),
    ACCOUNT_PORT: String(ports.account),
    OPERATORS_PORT: String(ports.operators),
    FOUR_EYES_EXEMPT: 'operator',
  };
  const compose = async (...args: string[]) => {
    const options = { cwd: PROJECT, env, maxBuffer: OUTPUT_MAX_BYTES };
    return (await promisify(execFile)('docker', ['compose', ...args], options)).stdout;
  };
  const ofProject = `label=com.docker.compose.project=${name}`;
  const containers = async () => {
    const ids = await lines('ps', '--all', '--quiet', '--no-trunc', '--filter', ofProject);
    const found = JSON.parse(await docker('inspect', ...ids)) as InspectedContainer[];
    return new Map(
      found.map((container) => [container.Config.Labels['com.docker.compose.service'] ?? '', container]),
    );
  };
  const remains = async () => [
    ...(await lines('ps', '--all', '--quiet', '--filter', ofProject)),
    ...(await lines('volume', 'ls', '--quiet', '--filter', ofProject)),
    ...(await lines('network', 'ls', '--quiet', '--filter', ofProject)),
  ];
  return { name, ports, compose, containers, remains };
}

/** The docker command; returns stdout. */
export async function docker(...args: string[]): Promise<string> {
  return (await promisify(execFile)('docker', args, { maxBuffer: OUTPUT_MAX_BYTES })).stdout;
}

async function lines(...args: string[]): Promise<string[]> {
  return (await docker(...args)).split('\n').filter((line) => line !== '');
}
