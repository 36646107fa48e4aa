import { createRequire, registerHooks } from 'node:module';
import { pathToFileURL } from 'node:url';
import type Environment from './environment.ts';
import { setGlobals } from './globals.ts';

const GLOBALS = import.meta.resolve('./globals.ts');

registerHooks({
  resolve: (specifier, context, nextResolve) =>
    specifier === '@jest/globals' ? { url: GLOBALS, shortCircuit: true } : nextResolve(specifier, context),
});

const FRAMEWORK_STATE = new Set<string | undefined>(['JEST_STATE_SYMBOL', 'EVENT_HANDLERS']);

let suites = 0;

/**
 * Loads suites by Node.js' own module loader, in place of Jest's, which gives each file a vm context in which it
 * compiles all modules anew. Each suite's file is run by itself; the modules that it imports are loaded once per
 * worker, so a module must keep no state of a suite.
 */
export default class Runtime {
  readonly #environment: Environment;
  /** The same file runs in several of Jest's projects, perhaps in the same worker. */
  readonly #query: string;

  constructor(_config: unknown, environment: Environment) {
    this.#environment = environment;
    suites += 1;
    this.#query = `?suite=${String(suites)}`;
  }

  unstable_shouldLoadAsEsm(): boolean {
    return true;
  }

  async unstable_importModule(path: string): Promise<unknown> {
    return (await import(`${pathToFileURL(path).href}${this.#query}`)) as unknown;
  }

  requireModule(path: string): unknown {
    return createRequire(path)(path);
  }

  /** Jest's framework, which keeps a suite's tests and hooks in its module and in globals. */
  requireInternalModule(path: string): unknown {
    const require = createRequire(path);
    Reflect.deleteProperty(require.cache, path);
    for (const symbol of Object.getOwnPropertySymbols(globalThis)) {
      if (FRAMEWORK_STATE.has(symbol.description)) Reflect.deleteProperty(globalThis, symbol);
    }
    return require(path);
  }

  setGlobalsForRuntime(globals: Readonly<Record<string, object>>): void {
    const { fakeTimersModern: timers, moduleMocker: mocker } = this.#environment;
    const jest = {
      advanceTimersByTime: timers.advanceTimersByTime.bind(timers),
      getTimerCount: timers.getTimerCount.bind(timers),
      restoreAllMocks: mocker.restoreAllMocks.bind(mocker),
      spyOn: mocker.spyOn.bind(mocker),
      useFakeTimers: timers.useFakeTimers.bind(timers),
      useRealTimers: timers.useRealTimers.bind(timers),
    };
    setGlobals({ ...globals, jest });
  }

  enterTestCode(): void {
    // Only Jest's own runtime refuses what runs between tests.
  }

  leaveTestCode(): void {
    // See enterTestCode.
  }

  getSourceMaps(): ReadonlyMap<string, string> {
    return new Map();
  }

  getAllCoverageInfoCopy(): undefined {
    return undefined;
  }

  teardown(): void {
    setGlobals({});
  }
}
