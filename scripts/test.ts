import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * `npm test`: every suite, then `N passed, N failed` over all of them as the last line. Arguments go to Jest:
 * a path (`npm test -- services/auth`) or a name (`-t 'kill -9'`) picks some.
 */
type Suite = { name: string; args: string[] };
type Counts = { passed: number; failed: number };

const ROOMS: Suite = { name: 'Suites of the services and packages', args: [] };
const PROCESSES: Suite = { name: 'End to end, over processes', args: endToEnd('processes') };
const CONTAINERS: Suite = { name: 'End to end, over containers', args: endToEnd('containers') };

/** What the container suite builds on (docs/containers.md). */
const BASE_IMAGES = [
  process.env['NODE_IMAGE'] ?? 'node:24-slim',
  process.env['POSTGRES_IMAGE'] ?? 'postgres:17',
  process.env['REDIS_IMAGE'] ?? 'redis:7',
];
const DOCKER_TIME_LIMIT_MS = 120_000;

const results = mkdtempSync(join(tmpdir(), 'tollgate-results-'));
let total: Counts = { passed: 0, failed: 0 };
const interrupted = new AbortController();
try {
  for (const suite of suites(process.argv.slice(2))) {
    if (!interrupted.signal.aborted) total = add(total, await run(suite));
  }
} finally {
  rmSync(results, { recursive: true, force: true });
}
console.log(`${String(total.passed)} passed, ${String(total.failed)} failed`);
process.exit(total.failed === 0 ? 0 : 1);

function suites(args: string[]): Suite[] {
  if (args.length > 0) {
    const chosen = args.some((arg) => arg.startsWith('e2e')) ? ['--config=e2e/jest.config.mjs'] : [];
    return [{ name: 'Chosen suites', args: [...chosen, ...args] }];
  }
  const reason = whyNoContainers();
  if (reason === undefined) return [ROOMS, PROCESSES, CONTAINERS];
  console.log(`The container suite is left out: ${reason}`);
  // CI asks for the container suite; to leave it out there would hide that it was never run.
  if (process.env['REQUIRE_CONTAINERS'] === '1') total = { passed: 0, failed: 1 };
  return [ROOMS, PROCESSES];
}

/** Why the container suite can't run on this machine; undefined where it can. */
function whyNoContainers(): string | undefined {
  if (!docker('info')) return 'no Docker engine answers.';
  const missing = BASE_IMAGES.filter((image) => !docker('image', 'inspect', image) && !docker('pull', image));
  if (missing.length === 0) return undefined;
  return `${missing.join(', ')} can't be had here. NODE_IMAGE, POSTGRES_IMAGE and REDIS_IMAGE name others.`;
}

function endToEnd(kind: string): string[] {
  return ['--config=e2e/jest.config.mjs', `e2e/src/${kind}.test.ts`];
}

function docker(...args: string[]): boolean {
  return spawnSync('docker', args, { stdio: 'ignore', timeout: DOCKER_TIME_LIMIT_MS }).status === 0;
}

async function run({ name, args }: Suite): Promise<Counts> {
  console.log(`\n${name}`);
  const outputFile = join(results, `${crypto.randomUUID()}.json`);
  const options = ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning'];
  const jest = ['node_modules/jest/bin/jest.js', '--json', `--outputFile=${outputFile}`, ...args];
  const child = spawn(process.execPath, [...options, ...jest], {
    stdio: 'inherit',
    env: { ...process.env, NODE_OPTIONS: '--disable-warning=ExperimentalWarning' },
  });
  // Jest ends what it has started; this process only waits for that.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      interrupted.abort();
      child.kill(signal);
    });
  }
  const code = await new Promise<number>((resolve) => {
    child.once('exit', (exitCode) => {
      resolve(exitCode ?? 1);
    });
  });
  return counts(outputFile, code);
}

/** What Jest counted. A suite that could not run at all, or a Jest that failed otherwise, counts as one failed. */
function counts(outputFile: string, code: number): Counts {
  const result = existsSync(outputFile)
    ? (JSON.parse(readFileSync(outputFile, 'utf8')) as Record<string, number>)
    : {};
  const failed = (result['numFailedTests'] ?? 0) + (result['numRuntimeErrorTestSuites'] ?? 0);
  return { passed: result['numPassedTests'] ?? 0, failed: code === 0 ? failed : Math.max(failed, 1) };
}

function add(one: Counts, other: Counts): Counts {
  return { passed: one.passed + other.passed, failed: one.failed + other.failed };
}
