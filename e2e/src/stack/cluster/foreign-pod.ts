import { builtImage } from '../images.ts';
import { runCommand } from './commands.ts';
import type { Kubectl } from './commands.ts';

export type Target = { name: string; host: string; port: number };

const POD = 'foreign';
/** What a policy doesn't allow is dropped, so an attempt has no end of its own. */
const ATTEMPT_TIME_LIMIT_MS = 3_000;

/** Prints the names of the targets that a connection was made to. */
const CONNECT = `
  const { connect } = require('node:net');
  const attempt = ({ name, host, port }) => new Promise((resolve) => {
    const socket = connect({ host, port, timeout: ${String(ATTEMPT_TIME_LIMIT_MS)} });
    const end = (names) => { socket.destroy(); resolve(names); };
    socket.on('connect', () => end([name])).on('timeout', () => end([])).on('error', () => end([]));
  });
  Promise.all(JSON.parse(process.env.TARGETS).map(attempt)).then((names) => {
    console.log(JSON.stringify(names.flat().toSorted()));
  });`;

/** Tries to connect to each target from a pod without any of the chart's labels; returns the names of those reached. */
export async function connectFrom(kubectl: Kubectl, targets: readonly Target[]): Promise<string[]> {
  const container = {
    name: POD,
    image: builtImage('upstream'),
    command: ['node', '-e', CONNECT],
    env: [{ name: 'TARGETS', value: JSON.stringify(targets) }],
    securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
  };
  const spec = {
    restartPolicy: 'Never',
    automountServiceAccountToken: false,
    securityContext: { runAsNonRoot: true, runAsUser: 1000, seccompProfile: { type: 'RuntimeDefault' } },
    containers: [container],
  };
  await kubectl('run', POD, `--image=${container.image}`, `--overrides=${JSON.stringify({ spec })}`);
  try {
    await kubectl('wait', '--for=jsonpath={.status.phase}=Succeeded', '--timeout=60s', `pod/${POD}`);
    return JSON.parse(await kubectl('logs', POD)) as string[];
  } finally {
    await kubectl('delete', 'pod', POD, '--grace-period=0', '--force');
  }
}

/** The same from this machine, which is the node. */
export async function connectFromHere(targets: readonly Target[]): Promise<string[]> {
  const args = [`TARGETS=${JSON.stringify(targets)}`, process.execPath, '-e', CONNECT];
  return JSON.parse(await runCommand('env', args)) as string[];
}
