/** The black-box suites: one file per kind of stack, and two for the specs over processes. */
export default {
  rootDir: '..',
  testMatch: ['<rootDir>/e2e/src/*.test.ts'],
  extensionsToTreatAsEsm: ['.ts'],
  transform: { '\\.ts$': '<rootDir>/scripts/strip-types.cjs' },
  testTimeout: 60_000,
  // The two over processes.
  maxWorkers: 2,
};
