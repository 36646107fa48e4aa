import type * as jestGlobals from '@jest/globals';

const NAMES = [
  'afterAll',
  'afterEach',
  'beforeAll',
  'beforeEach',
  'describe',
  'expect',
  'jest',
  'test',
] as const;

/** What suites use of `@jest/globals`. */
export type Globals = Pick<typeof jestGlobals, (typeof NAMES)[number]>;

let ofSuite: Readonly<Record<string, object>> = {};

/** Of the suite that the worker runs now. */
export function setGlobals(globals: Readonly<Record<string, object>>): void {
  ofSuite = globals;
}

/** Modules of several suites import these once, so that each call looks up the running suite's. */
export const { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } =
  Object.fromEntries(NAMES.map((name) => [name, forwarding(() => ofRunningSuite(name))])) as Globals;

function ofRunningSuite(name: string): object {
  const value = ofSuite[name];
  if (value === undefined) throw new Error(`\`${name}\` of @jest/globals is used outside of a suite.`);
  return value;
}

/** Functions of a function, too, such as `describe.skip`. */
function forwarding(current: () => object): object {
  return new Proxy(() => undefined, {
    apply: (_target, self, args): unknown => Reflect.apply(current() as () => unknown, self, args),
    get: (_target, key) => {
      const value: unknown = Reflect.get(current(), key);
      return typeof value === 'function'
        ? forwarding(() => Reflect.get(current(), key) as () => unknown)
        : value;
    },
  });
}
