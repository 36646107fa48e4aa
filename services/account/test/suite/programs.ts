import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { compileCache } from '@tollgate/testbed/config';
import { programFile } from '@tollgate/testbed/programs';

export type Outcome = { code: number | null; stdout: string; stderr: string };

/** Runs one of account's entry points (`main`, `programs/migrate`) to its end, with only these settings. */
export async function runProgram(
  name: string,
  settings: Readonly<Record<string, string>>,
  stdin = '',
): Promise<Outcome> {
  const child = spawn(process.execPath, [programFile('services/account', name)], {
    env: { ...compileCache(), ...settings },
  });
  // A program that ends without reading closes the pipe.
  child.stdin.on('error', () => undefined);
  child.stdin.end(stdin);
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { code: child.exitCode, stdout, stderr };
}
