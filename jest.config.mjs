import { availableParallelism } from 'node:os';

const common = {
  // Node.js itself loads suites, as it does services (docs/design/building.md).
  runtime: '<rootDir>/tools/testbed/src/jest/runtime.ts',
  testEnvironment: '<rootDir>/tools/testbed/src/jest/environment.ts',
  transform: {},
  globalSetup: '<rootDir>/tools/testbed/src/global-setup.ts',
  globalTeardown: '<rootDir>/tools/testbed/src/global-teardown.ts',
  modulePathIgnorePatterns: ['<rootDir>/.tollgate'],
};

export default {
  projects: [
    {
      ...common,
      displayName: 'suites',
      testMatch: [
        '<rootDir>/{services,packages,tools,clients,sample-payments,sample-upstream,scripts,bench}/**/*.test.ts',
      ],
    },
    {
      ...common,
      // Suites of auth whose promises also hold on a Redis Cluster of three masters (docs/design/stores.md).
      displayName: 'redis-cluster',
      setupFilesAfterEnv: ['<rootDir>/services/auth/test/suite/run-on-cluster.ts'],
      testMatch: [
        'abuse/429-failed-attempts',
        'endpoints/introspection/introspection-endpoint',
        'endpoints/revocation/revocation-endpoint',
        'endpoints/client-changes/client-changes-endpoint',
        'endpoints/token/{200,401,503}',
        'token/{live-tokens,lost-writes}',
      ].map((suite) => `<rootDir>/services/auth/src/${suite}.test.ts`),
    },
    {
      ...common,
      displayName: 'plain-http-off',
      // Suites of the gateway that read and write HTTP in unusual ways: node:http and undici alone pass them, too.
      setupFilesAfterEnv: ['<rootDir>/services/gateway/test/suite/without-plain-http.ts'],
      testMatch: [
        'app',
        'half-close',
        'hostile-heads',
        'expect-continue',
        'data-call',
        'request-body',
        'smuggling',
        'answers',
        'cut-answers',
        'caller-gone',
        'connection-loss',
        'upstream-failures',
        'upstream-request',
      ].map((suite) => `<rootDir>/services/gateway/**/${suite}.test.ts`),
    },
  ],
  // Longer than a wait for a condition (tools/stack/src/wait-for.ts), whose error says more.
  testTimeout: 150_000,
  // Half of a suite's time is waiting for processes, so that two workers more than cores keep the cores busy.
  maxWorkers: availableParallelism() + 2,
  // What finished files leave behind stays in a worker's memory: it is replaced before that fills up.
  workerIdleMemoryLimit: '1GB',
};
