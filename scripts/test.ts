import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { redisImage } from '@tollgate/stack/config';
import { findRedis } from '@tollgate/stack/redis-program';
import { bundlePrograms } from '@tollgate/testbed/bundle-programs';
import { stripeAccount } from '@tollgate/testbed/config';
import { hasIngressController, installIngressController } from '@tollgate/testbed/ingress-controller';
import { installJudges } from '@tollgate/testbed/payments/judges';
import { buildPages } from '../tools/images/src/build/account-pages.ts';
import { buildImages } from '../e2e/src/stack/images.ts';
import type { FileResult } from './results-reporter.ts';
import { runJest } from './run-jest.ts';

/**
 * `npm test`: every suite, then `N passed, N failed` as the last line. Arguments go to Jest in each project
 * (jest.config.mjs) that has the path or name; `--selectProjects` picks one. With RUN_FAILED_AGAIN=1 (CI) a
 * failed file runs once more alone, and its second result counts: an unsteady test is named, but mustn't hide
 * the other results.
 */
type Suite = {
  name: string;
  args: string[];
  /** The command that runs Jest for it. */
  by?: readonly string[];
  /** What it needs that is still being made. */
  ready?: Promise<unknown>;
};

const END_TO_END = '--config=e2e/jest.config.mjs';

const COMMAND_TIME_LIMIT_MS = 120_000;

type Run = { suite: Suite; files: FileResult[] };

/**
 * Another lane runs beside them most of the time, so they take one worker less than jest.config.mjs gives them alone: with
 * more, suites run into their time limits; with less, a core is idle once the other lane has ended.
 */
const ROOMS: Suite = {
  name: 'Suites of the services and packages',
  args: [`--maxWorkers=${String(availableParallelism() + 1)}`],
  // Only they always have something to do: what is deployed, and browsers, shouldn't wait for a core.
  by: ['nice', '-n', '5'],
};
/**
 * A network of their own: browsers drop requests when the machine's changes, as it does with each container and pod. Beside
 * the loopback interface it has one that leads nowhere, without which a browser takes itself for offline.
 */
const OWN_NETWORK = [
  'ip link set lo up',
  'ip link add online type veth peer name nowhere',
  'ip link set nowhere up',
  'ip address add 192.0.2.1/32 dev online',
  'ip link set online up',
  'exec "$@"',
].join(' && ');
const IN_OWN_NETWORK = ['unshare', '--net', 'sh', '-c', OWN_NETWORK, 'sh'];
const hasOwnNetwork = succeeds(...IN_OWN_NETWORK, 'true');
const by = hasOwnNetwork ? IN_OWN_NETWORK : [];
const PROCESSES: Suite = { name: 'End to end, over processes', args: endToEnd('processes'), by };
const CONSOLE: Suite = { name: "The web interface's pages, over processes", args: endToEnd('console'), by };
const CLUSTER: Suite = { name: 'End to end, in a Kubernetes cluster', args: endToEnd('cluster') };
const INSTALLATION: Suite = {
  name: 'An installation by the documents, in a Kubernetes cluster',
  args: endToEnd('installation'),
};
const CONTAINERS: Suite = { name: 'End to end, over containers', args: endToEnd('containers') };
const COMPOSE: Suite = { name: 'docker compose', args: endToEnd('compose') };
const BACKUP: Suite = { name: 'Backup and restore, over containers', args: endToEnd('backup') };

const MAIN_PROJECT = 'suites';

const SLOWEST = 15;

/** See docs/containers.md. */
const BASE_IMAGES = [
  process.env['NODE_IMAGE'] ?? /^ARG NODE_IMAGE=(\S+)$/m.exec(readFileSync('Dockerfile', 'utf8'))?.[1] ?? '',
  process.env['POSTGRES_IMAGE'] ?? 'postgres:17.6',
  redisImage(),
];
/** Its suites start so many services that bundling them first pays. */
const WHOLE_ROOM = /^services(?:\/\w+)?\/?$/;

const interrupted = new AbortController();
const results: FileResult[] = [];
const unsteady: string[] = [];
const chosen = process.argv.slice(2);
const bundles = mkdtempSync(join(tmpdir(), 'tollgate-bundles-'));
const isWhole = chosen.length === 0;
const runs = isWhole ? await runWhole() : await runChosen();
for (const { suite, files } of runs) results.push(...(await runFailedAgain(suite, files)));
rmSync(bundles, { recursive: true, force: true });
printSlowest();
for (const name of unsteady) console.log(`Passed only when run again: ${name}`);
const sum = (count: (result: FileResult) => number) => results.reduce((all, one) => all + count(one), 0);
const failed = sum((result) => result.failed);
console.log(`${String(sum((result) => result.passed))} passed, ${String(failed)} failed`);
process.exit(failed === 0 ? 0 : 1);

function printSlowest(): void {
  const slowest = results.toSorted((one, other) => other.seconds - one.seconds).slice(0, SLOWEST);
  if (slowest.length < SLOWEST) return;
  console.log('\nSlowest files:');
  for (const result of slowest) {
    console.log(`${result.seconds.toFixed(0).padStart(5)} s  ${nameOf(result)}`);
  }
}

function nameOf({ file, project }: FileResult): string {
  const path = relative(process.cwd(), file);
  return project === undefined || project === MAIN_PROJECT ? path : `${path} (${project})`;
}

function chosenSuites(): Suite {
  const isEndToEnd = chosen.some((arg) => arg.startsWith('e2e'));
  return { name: 'Chosen suites', args: [...(isEndToEnd ? [END_TO_END] : []), ...chosen] };
}

async function runChosen(): Promise<Run[]> {
  if (chosen.some((arg) => WHOLE_ROOM.test(arg))) await bundlePrograms(bundles);
  return await runSuites([chosenSuites()], 'at once');
}

/**
 * Three lanes share the cores: containers, pods and browsers are waited for most of the time, which the rooms' suites
 * use. Where there is no network for journeys alone, they come after what is deployed, by whichever lane is free.
 */
async function runWhole(): Promise<Run[]> {
  if (stripeAccount() === undefined) {
    const name = 'Payments with a test account at Stripe';
    leaveOut(name, 'STRIPE_TEST_KEY is not set.', 'REQUIRE_STRIPE_ACCOUNT');
  }
  const journeys = [CONSOLE, PROCESSES];
  const deployed = runDeployed();
  const prepared = prepareSuites();
  const rooms = prepared.then(() => runSuites([ROOMS], 'at once'));
  const others = hasOwnNetwork
    ? [prepared.then(() => runSuites(journeys, 'at its end'))]
    : [deployed, rooms].map(async (lane) => {
        await Promise.all([lane, deployed]);
        return await runSuites(journeys, 'at its end');
      });
  return (await Promise.all([deployed, rooms, ...others])).flat();
}

/**
 * Otherwise several suites would make the same at the same time, and none could download in a network of its own. What
 * is deployed is built into images instead.
 */
async function prepareSuites(): Promise<void> {
  const redis = findRedis({ logFile: join(bundles, 'find-redis.log') });
  await Promise.all([bundlePrograms(bundles), buildPages(), installJudges(), redis]);
}

async function runDeployed(): Promise<Run[]> {
  const suites = deployedSuites();
  if (suites.length > 0) await buildImagesOnce();
  return await runSuites(suites, 'at its end');
}

/** For all suites. Where it fails, each of them builds, and says why it can't. */
async function buildImagesOnce(): Promise<void> {
  await buildImages().then(
    () => (process.env['IMAGES_ARE_BUILT'] = '1'),
    () => undefined,
  );
}

/** A lane of its own for the cluster left its gateway too little of two cores for the autoscaler to see a load. */
function deployedSuites(): Suite[] {
  const noContainers = whyNoContainers();
  const noCluster = noContainers ?? whyNoCluster();
  if (noContainers !== undefined) leaveOut(CONTAINERS.name, noContainers, 'REQUIRE_CONTAINERS');
  if (noCluster !== undefined) leaveOut(CLUSTER.name, noCluster, 'REQUIRE_CLUSTER');
  const withContainers = noContainers === undefined ? [CONTAINERS, COMPOSE, BACKUP] : [];
  const withCluster =
    noCluster === undefined ? [INSTALLATION, { ...CLUSTER, ready: prepareIngressController() }] : [];
  return [...withCluster, ...withContainers];
}

/** Compiling it takes minutes, in which another suite is waited for. If it fails, the suite that needs it says so. */
async function prepareIngressController(): Promise<void> {
  if (hasIngressController()) await installIngressController().catch(() => undefined);
}

/** In CI, skipping a suite would hide that it never ran. */
function leaveOut(name: string, reason: string, required: string): void {
  console.log(`Skipping "${name}": ${reason}`);
  if (process.env[required] === '1')
    results.push({ file: name, passed: 0, failed: 1, failedGroups: [], seconds: 0 });
}

/** Undefined if it can. Naming the command is the permission to install something in KUBECONFIG's cluster. */
function whyNoCluster(): string | undefined {
  if (process.env['CLUSTER_LOAD_IMAGE'] === undefined) return 'CLUSTER_LOAD_IMAGE names no command.';
  for (const [program, ...args] of [
    ['helm', 'version'],
    ['kubectl', 'get', '--raw=/readyz'],
  ] as const) {
    if (!succeeds(program, ...args)) return `"${program} ${args.join(' ')}" fails.`;
  }
  return undefined;
}

/** Undefined if it can. */
function whyNoContainers(): string | undefined {
  if (!docker('info')) return 'no Docker engine answers.';
  if (!docker('compose', 'version')) return 'Docker has no Compose v2.';
  const missing = BASE_IMAGES.filter((image) => !docker('image', 'inspect', image) && !docker('pull', image));
  if (missing.length === 0) return undefined;
  return `${missing.join(', ')} cannot be pulled. Set NODE_IMAGE, POSTGRES_IMAGE and REDIS_IMAGE to other images.`;
}

function endToEnd(...kinds: string[]): string[] {
  return [END_TO_END, ...kinds.map((kind) => `e2e/src/${kind}.test.ts`)];
}

function docker(...args: string[]): boolean {
  return succeeds('docker', ...args);
}

function succeeds(...command: string[]): boolean {
  const [program = '', ...args] = command;
  return spawnSync(program, args, { stdio: 'ignore', timeout: COMMAND_TIME_LIMIT_MS }).status === 0;
}

/** One after the other; each is taken from the list when it begins, so that lanes can share one. */
async function runSuites(suites: Suite[], prints: 'at once' | 'at its end'): Promise<Run[]> {
  const runs: Run[] = [];
  for (let suite = suites.shift(); suite !== undefined; suite = suites.shift()) {
    if (interrupted.signal.aborted) break;
    const { name, args, by = [], ready } = suite;
    await ready;
    runs.push({ suite, files: await runJest(args, { title: `\n${name}`, prints, interrupted, by }) });
  }
  return runs;
}

/** An end-to-end file takes minutes, and its groups of tests don't need each other. Nothing where the file itself failed. */
function failedGroupsOnly({ failedGroups }: FileResult): string[] {
  if (failedGroups.length === 0) return [];
  const names = failedGroups.map((name) => name.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`));
  return [`--testNamePattern=^(?:${names.join('|')})(?: |$)`];
}

/** The results that count. */
async function runFailedAgain({ args, by = [] }: Suite, files: FileResult[]): Promise<FileResult[]> {
  if (process.env['RUN_FAILED_AGAIN'] !== '1') return files;
  const options = args.filter((arg) => arg.startsWith('--'));
  const isEndToEnd = args.includes(END_TO_END);
  const final = files.filter(({ failed }) => failed === 0);
  for (const result of files.filter(({ failed }) => failed > 0)) {
    if (interrupted.signal.aborted) return files;
    const title = `\nOnce more, by itself: ${nameOf(result)}`;
    const { file, project } = result;
    const only = project === undefined ? [] : [`--selectProjects=${project}`];
    const groups = isEndToEnd ? failedGroupsOnly(result) : [];
    const again = await runJest([...options, ...only, ...groups, '--runTestsByPath', file], {
      title,
      prints: 'at once',
      interrupted,
      by,
    });
    if (again.every(({ failed }) => failed === 0)) unsteady.push(nameOf(result));
    if (groups.length === 0) final.push(...again);
    else final.push(...again.map((one) => ({ ...one, passed: result.passed + result.failed - one.failed })));
  }
  return final;
}
