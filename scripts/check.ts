import { spawn } from 'node:child_process';

/** `npm run check`: everything that needs no running service. Exits with 1 on any failure. */
const CHECKS: Record<string, string[]> = {
  // Types, too: it holds each room's program anyway.
  'types and lint': ['oxlint', '--format=unix'],
  format: ['prettier', '--check', '--log-level=warn', '.'],
  rooms: [
    'depcruise',
    '--output-type=err',
    'services',
    'packages',
    'tools',
    'clients',
    'sample-payments',
    'sample-upstream',
    'e2e',
    'bench',
    'scripts',
  ],
  'dead code': ['knip'],
};

const results = await Promise.all(
  Object.entries(CHECKS).map(async ([name, [program = '', ...args]]) => {
    const started = performance.now();
    const { code, output } = await run(program, args);
    const seconds = ((performance.now() - started) / 1_000).toFixed(1);
    console.log(`${code === 0 ? 'ok    ' : 'FAILED'} ${name} (${seconds} s)`);
    // Of what passes, only lint has warnings to show.
    if (output.trim() !== '' && (code !== 0 || name.endsWith('lint'))) console.log(output.trimEnd());
    return code === 0;
  }),
);
const failed = results.filter((passed) => !passed).length;
console.log(
  failed === 0 ? 'All checks passed.' : `${String(failed)} of ${String(results.length)} checks failed.`,
);
process.exit(failed === 0 ? 0 : 1);

function run(program: string, args: string[]): Promise<{ code: number | null; output: string }> {
  return new Promise((resolve) => {
    const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => (output += chunk));
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => (output += chunk));
    child.once('error', (error) => {
      resolve({ code: 1, output: error.message });
    });
    child.once('close', (code) => {
      resolve({ code, output });
    });
  });
}
