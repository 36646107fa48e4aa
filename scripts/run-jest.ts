import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FileResult } from './results-reporter.ts';

/** Workers get these too; each file's modules are garbage at its end, so a small young generation is copied in vain. */
const OPTIONS = [
  '--experimental-vm-modules',
  '--disable-warning=ExperimentalWarning',
  '--max-semi-space-size=64',
];
const REPORTERS = ['--reporters=default', '--reporters=<rootDir>/scripts/results-reporter.ts'];
const NOTHING_RAN: FileResult = { file: 'Jest itself', passed: 0, failed: 1, seconds: 0 };

/** A Jest that fails in any other way counts as one failed test. */
export async function runJest(args: string[], interrupted: AbortController): Promise<FileResult[]> {
  const results = mkdtempSync(join(tmpdir(), 'tollgate-results-'));
  try {
    const outputFile = join(results, 'jest.json');
    const code = await jestProcess([...REPORTERS, `--outputFile=${outputFile}`, ...args], interrupted);
    const files = existsSync(outputFile)
      ? (JSON.parse(readFileSync(outputFile, 'utf8')) as FileResult[])
      : [];
    return code === 0 || files.some(({ failed }) => failed > 0) ? files : [...files, NOTHING_RAN];
  } finally {
    rmSync(results, { recursive: true, force: true });
  }
}

function jestProcess(args: string[], interrupted: AbortController): Promise<number> {
  const child = spawn(process.execPath, [...OPTIONS, 'node_modules/jest/bin/jest.js', ...args], {
    stdio: 'inherit',
    env: { ...process.env, NODE_OPTIONS: '--disable-warning=ExperimentalWarning' },
  });
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
