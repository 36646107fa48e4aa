/** The black-box suites: one file per kind of stack, the same specs in each. */
export default {
  rootDir: '..',
  testMatch: ['<rootDir>/e2e/src/*.test.ts'],
  extensionsToTreatAsEsm: ['.ts'],
  transform: { '\\.ts$': '<rootDir>/scripts/strip-types.cjs' },
  testTimeout: 60_000,
};
