import { ModernFakeTimers } from '@jest/fake-timers';
import { ModuleMocker } from 'jest-mock';
import { keepVariables } from '../config.ts';

type TimersOptions = ConstructorParameters<typeof ModernFakeTimers>[0];

const exit = process.exit.bind(process);

/** Jest's test environment: the worker's own globals, without a vm context. */
export default class Environment {
  readonly global = globalThis;
  readonly moduleMocker = new ModuleMocker(globalThis);
  readonly fakeTimersModern: ModernFakeTimers;
  readonly #restoreVariables = keepVariables();
  readonly #console = globalThis.console;

  constructor({ projectConfig: config }: { projectConfig: TimersOptions['config'] }) {
    this.fakeTimersModern = new ModernFakeTimers({ config, global: globalThis });
  }

  setup(): Promise<void> {
    return Promise.resolve();
  }

  /** The worker's next suite finds what this one found. Jest itself replaces `console` and `process.exit`. */
  teardown(): Promise<void> {
    this.fakeTimersModern.dispose();
    this.moduleMocker.restoreAllMocks();
    this.#restoreVariables();
    globalThis.console = this.#console;
    process.exit = exit;
    return Promise.resolve();
  }

  exportConditions(): readonly string[] {
    return ['node'];
  }

  /** Jest demands it, for coverage. */
  getVmContext(): null {
    return null;
  }
}
