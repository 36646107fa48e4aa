import { spawn } from 'node:child_process';
import { closeSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FileResult } from './results-reporter.ts';

const REPORTERS = ['--reporters=default', '--reporters=<rootDir>/scripts/results-reporter.ts'];
const NOTHING_RAN: FileResult = {
  file: 'Jest itself',
  passed: 0,
  failed: 1,
  failedGroups: [],
  seconds: 0,
};

/** Where several run beside each other, only one may print while it runs. */
type Prints = 'at once' | 'at its end';

export type RunOptions = {
  interrupted: AbortController;
  prints: Prints;
  title: string;
  /** A command that becomes the one behind it, so that this gets the signals. */
  by: readonly string[];
};

/** A Jest that fails in any other way counts as one failed test. */
export async function runJest(args: string[], options: RunOptions): Promise<FileResult[]> {
  const results = mkdtempSync(join(tmpdir(), 'tollgate-results-'));
  try {
    const outputFile = join(results, 'jest.json');
    const output = options.prints === 'at once' ? undefined : join(results, 'output');
    if (output === undefined) console.log(options.title);
    const jestArgs = [...REPORTERS, `--outputFile=${outputFile}`, ...args];
    const code = await jestProcess(jestArgs, output, options);
    if (output !== undefined) console.log(`${options.title}\n${readFileSync(output, 'utf8')}`);
    const files = existsSync(outputFile)
      ? (JSON.parse(readFileSync(outputFile, 'utf8')) as FileResult[])
      : [];
    return code === 0 || files.some(({ failed }) => failed > 0) ? files : [...files, NOTHING_RAN];
  } finally {
    rmSync(results, { recursive: true, force: true });
  }
}

/** `output` is a file: unlike a pipe's, its end doesn't wait for what else still holds it. */
function jestProcess(
  args: string[],
  output: string | undefined,
  { interrupted, by }: RunOptions,
): Promise<number> {
  const log = output === undefined ? 'inherit' : openSync(output, 'a');
  const [command = '', ...rest] = [...by, process.execPath, 'node_modules/jest/bin/jest.js', ...args];
  const child = spawn(command, rest, {
    stdio: output === undefined ? 'inherit' : ['ignore', log, log],
    env: { ...process.env, NODE_OPTIONS: '--disable-warning=ExperimentalWarning' },
  });
  if (typeof log === 'number') closeSync(log);
  // Jest ends its own processes; this one only waits.
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  const pass = (signal: NodeJS.Signals) => {
    interrupted.abort();
    child.kill(signal);
  };
  for (const signal of signals) process.on(signal, pass);
  return new Promise<number>((resolve) => {
    child.once('exit', (exitCode) => {
      for (const signal of signals) process.off(signal, pass);
      resolve(exitCode ?? 1);
    });
  });
}
