import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** One file of tests; one that could not run at all has one failed. */
export type FileResult = { file: string; passed: number; failed: number; seconds: number };

type JestJson = {
  testResults: {
    name: string;
    status: string;
    startTime: number;
    endTime: number;
    assertionResults: { status: string }[];
  }[];
};

const OPTIONS = ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning'];
const NOTHING_RAN: FileResult = { file: 'Jest itself', passed: 0, failed: 1, seconds: 0 };

/** Runs Jest to its end and tells what each file gave. A Jest that failed otherwise counts as one failed. */
export async function runJest(args: string[], interrupted: AbortController): Promise<FileResult[]> {
  const results = mkdtempSync(join(tmpdir(), 'tollgate-results-'));
  try {
    const outputFile = join(results, 'jest.json');
    const code = await jestProcess(['--json', `--outputFile=${outputFile}`, ...args], interrupted);
    const files = existsSync(outputFile) ? filesOf(readFileSync(outputFile, 'utf8')) : [];
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
  // Jest ends what it has started; this process only waits for that.
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

function filesOf(json: string): FileResult[] {
  return (JSON.parse(json) as JestJson).testResults.map(
    ({ name, status, startTime, endTime, assertionResults }) => {
      const number = (wanted: string) => assertionResults.filter((one) => one.status === wanted).length;
      const failed = number('failed');
      return {
        file: name,
        passed: number('passed'),
        failed: status === 'failed' ? Math.max(failed, 1) : failed,
        seconds: Math.max(endTime - startTime, 0) / 1_000,
      };
    },
  );
}
