/** The black-box suites: one file per kind of stack, and two for the specs over processes. */
export default {
  rootDir: '..',
  testMatch: ['<rootDir>/e2e/src/*.test.ts'],
  runtime: '<rootDir>/tools/testbed/src/jest/runtime.ts',
  testEnvironment: '<rootDir>/tools/testbed/src/jest/environment.ts',
  transform: {},
  testTimeout: 150_000,
  // The two over processes.
  maxWorkers: 2,
};
