const RUN_DIRECTORY = 'TOLLGATE_TESTBED';

export function runDirectory(): string {
  const directory = process.env[RUN_DIRECTORY];
  if (directory === undefined) {
    throw new Error('The testbed is not set up: run the suite by `npm test -- <path>`, from the project.');
  }
  return directory;
}

/** The workers of this run inherit the environment. */
export function announceRunDirectory(directory: string): void {
  process.env[RUN_DIRECTORY] = directory;
}

const BUNDLES = 'TOLLGATE_TESTBED_BUNDLES';

/** Where programs are bundled; undefined where they run from their sources. */
export function bundleDirectory(): string | undefined {
  return process.env[BUNDLES];
}

/** Jest and its workers inherit the environment. */
export function announceBundles(directory: string): void {
  process.env[BUNDLES] = directory;
}

/** Lets a program that inherits nothing use compiled code of Node.js (scripts/run.mjs). */
export function compileCache(): Record<string, string> {
  const directory = process.env['NODE_COMPILE_CACHE'];
  return directory === undefined ? {} : { NODE_COMPILE_CACHE: directory };
}

/** REQUIRE_LOAD_BALANCERS=1: get HAProxy and nginx where they aren’t installed. */
export function requiresLoadBalancers(): boolean {
  return process.env['REQUIRE_LOAD_BALANCERS'] === '1';
}

/** REQUIRE_INGRESS_CONTROLLER=1: build Contour and get Envoy where the cache has none. */
export function requiresIngressController(): boolean {
  return process.env['REQUIRE_INGRESS_CONTROLLER'] === '1';
}

/** REQUIRE_PYTHON=1: the suites of the Python library fail where Python or its packages can’t be had. */
export function requiresPython(): boolean {
  return process.env['REQUIRE_PYTHON'] === '1';
}

/** REQUIRE_RUNTIMES=1: the TypeScript library's suites fail where Bun or Deno can’t be had. */
export function requiresRuntimes(): boolean {
  return process.env['REQUIRE_RUNTIMES'] === '1';
}

/** SIMULATION_STEPS and SIMULATION_SEED: a longer simulation of credits, or one that is repeated. */
export function simulation(): { steps: number; seed: number } {
  const { SIMULATION_STEPS: steps, SIMULATION_SEED: seed } = process.env;
  return { steps: Number(steps ?? 10), seed: Number(seed ?? Date.now() % 2 ** 31) };
}

/** The one setting that a run of the tests chooses for all services: `PLAIN_HTTP=off npm test`. */
export function plainHttp(): string {
  return process.env['PLAIN_HTTP'] ?? 'on';
}

/** The same for the suites of one Jest project. */
export function withoutPlainHttp(): void {
  process.env['PLAIN_HTTP'] = 'off';
}

const REDIS_CLUSTER = 'TOLLGATE_TESTBED_REDIS_CLUSTER';

/** The suites of one Jest project get a Redis Cluster where others get a server. */
export function useRedisCluster(): void {
  process.env[REDIS_CLUSTER] = '1';
}

export function usesRedisCluster(): boolean {
  return process.env[REDIS_CLUSTER] === '1';
}

const OWN_PROCESSES = 'TOLLGATE_TESTBED_OWN_PROCESSES';

/** For a suite about processes themselves: each service of its is a new one, which really ends. */
export function ownProcesses(): void {
  process.env[OWN_PROCESSES] = '1';
}

export function usesOwnProcesses(): boolean {
  return process.env[OWN_PROCESSES] === '1';
}

/** Returns what gives the environment's variables the values of now. */
export function keepVariables(): () => void {
  const kept = { ...process.env };
  return () => {
    for (const name of Object.keys(process.env)) {
      if (kept[name] === undefined) Reflect.deleteProperty(process.env, name);
    }
    Object.assign(process.env, kept);
  };
}

/** Go installs its programs there. */
export function goEnvironment(directory: string): NodeJS.ProcessEnv {
  return { ...process.env, GOBIN: directory };
}

/**
 * STRIPE_TEST_KEY: a test account or sandbox at Stripe, for the profile against it (docs/guides/stripe-account.md);
 * undefined leaves that out. STRIPE_API_URL: another server that behaves like Stripe, as account has it.
 * @throws for a live key, without naming it
 */
export function stripeAccount(): { secretKey: string; apiUrl: string | undefined } | undefined {
  const { STRIPE_TEST_KEY: secretKey = '', STRIPE_API_URL: apiUrl } = process.env;
  if (secretKey === '') return undefined;
  if (!/^sk_test_\w{16,}$/.test(secretKey)) {
    throw new Error('STRIPE_TEST_KEY must be the secret key of a test account or sandbox, sk_test_…');
  }
  return { secretKey, apiUrl };
}
