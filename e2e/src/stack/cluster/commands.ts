import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const OUTPUT_MAX_BYTES = 64 * 1024 * 1024;

/**
 * Runs a command to its end and returns what it printed.
 *
 * @throws {Error} with what it printed to stderr.
 */
export async function runCommand(program: string, args: readonly string[], input = ''): Promise<string> {
  const running = promisify(execFile)(program, args, { maxBuffer: OUTPUT_MAX_BYTES });
  running.child.stdin?.on('error', () => undefined).end(input);
  return (await running).stdout;
}

/** kubectl in one namespace of the cluster that KUBECONFIG names. */
export type Kubectl = (...args: string[]) => Promise<string>;

export function kubectlIn(namespace: string): Kubectl {
  return (...args) => runCommand('kubectl', ['--namespace', namespace, ...args]);
}
