import { spawn } from 'node:child_process';

/** `npm run check`: everything that needs no running service. Exits with 1 on any failure. */
const CHECKS: Record<string, string[]> = {
  types: ['tsc'],
  // These two rooms have code of browsers.
  'types of the console': ['tsc', '--project', 'packages/console'],
  'types of e2e': ['tsc', '--project', 'e2e'],
  // Apart, because one process would hold three programs: more than the 4 GB that Node.js gives it.
  lint: ['eslint', '.', '--ignore-pattern=packages/console/src', '--ignore-pattern=e2e'],
  'lint of the console and e2e': ['eslint', 'packages/console/src', 'e2e'],
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
    if (output.trim() !== '' && (code !== 0 || name.startsWith('lint'))) console.log(output.trimEnd());
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
