/** Node's own type stripping, the one that runs the services, also serves the tests. */
export default {
  testMatch: ['<rootDir>/{services,packages,tools,sample-upstream,scripts,bench}/**/*.test.ts'],
  extensionsToTreatAsEsm: ['.ts'],
  transform: { '\\.ts$': '<rootDir>/scripts/strip-types.cjs' },
  globalSetup: '<rootDir>/tools/testbed/src/global-setup.ts',
  globalTeardown: '<rootDir>/tools/testbed/src/global-teardown.ts',
  modulePathIgnorePatterns: ['<rootDir>/.tollgate'],
  testTimeout: 30_000,
  // Suites wait for processes far more than they compute: a worker for each core, not one less.
  maxWorkers: '100%',
};
