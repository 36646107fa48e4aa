/**
 * What each folder of a service may import: dependencies between them go one way. A folder that isn't listed, such as
 * the one that composes the service, may import all of them.
 */
const base = ['http', 'platform', 'mail', 'identity'];
const rooms = {
  account: {
    http: [],
    platform: [],
    console: ['http'],
    mail: ['http', 'platform'],
    identity: ['http', 'platform', 'mail'],
    access: base,
    billing: base,
    teams: [...base, 'billing'],
    'self-service': [...base, 'billing', 'teams'],
    notifications: [...base, 'billing'],
    counting: ['http', 'platform', 'access', 'billing'],
    usage: [...base, 'access', 'billing', 'notifications'],
    refusals: [...base, 'billing', 'counting', 'usage'],
    operating: [...base, 'access', 'billing', 'notifications', 'counting'],
    lifecycle: [...base, 'access', 'billing', 'teams', 'notifications', 'refusals'],
    'api-document': [
      ...['http', 'console', 'identity', 'access', 'billing', 'teams', 'self-service'],
      ...['notifications', 'usage', 'refusals', 'lifecycle'],
    ],
  },
};

const layers = Object.entries(rooms).flatMap(([service, folders]) =>
  Object.entries(folders).map(([folder, imports]) => ({
    name: `${service}-${folder}-imports`,
    severity: 'error',
    from: { path: `^services/${service}/src/${folder}/`, pathNot: '\\.test\\.ts$' },
    to: {
      path: `^services/${service}/src/`,
      pathNot: `^services/${service}/src/(${[folder, ...imports].join('|')})/`,
    },
  })),
);

/** The rooms of docs/architecture.md: who may import whom. */
module.exports = {
  forbidden: [
    ...layers,
    {
      name: 'services-never-import-services',
      severity: 'error',
      from: { path: '^services/([^/]+)/' },
      to: { path: '^services/([^/]+)/', pathNot: '^services/$1/' },
    },
    {
      name: 'packages-never-import-services',
      severity: 'error',
      from: { path: '^(packages|tools)/' },
      to: { path: '^(services|e2e|bench|scripts|sample-upstream)/' },
    },
    {
      name: 'services-import-only-packages',
      severity: 'error',
      from: { path: '^services/' },
      to: { path: '^(e2e|bench|scripts|sample-upstream)/' },
    },
    {
      name: 'upstream-stands-alone',
      severity: 'error',
      from: { path: '^sample-upstream/' },
      to: { path: '^(services|packages|tools|e2e|bench|scripts)/' },
    },
    {
      name: 'product-never-imports-tools',
      comment: 'tools build, start and test the product; only tests may use them',
      severity: 'error',
      from: { path: '^(services|packages)/[^/]+/src/', pathNot: '\\.test\\.ts$' },
      to: { path: '^tools/' },
    },
    {
      name: 'black-box-suites',
      comment: 'e2e and bench speak HTTP; they import contracts and the stack, never a service',
      severity: 'error',
      from: { path: '^(e2e|bench)/' },
      to: { path: '^services/' },
    },
    {
      name: 'only-account-knows-sql',
      severity: 'error',
      from: { path: '^services/(auth|gateway)/' },
      to: { path: 'node_modules/(knex|pg)/' },
    },
    { name: 'no-circular', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'not-to-unresolvable',
      comment: 'that peer is installed by itself, when the bench is to run it',
      severity: 'error',
      from: { pathNot: '^bench/peers/express-gateway/' },
      to: { couldNotResolve: true },
    },
    {
      name: 'product-never-imports-tests',
      severity: 'error',
      from: { pathNot: '\\.test\\.ts$|^e2e/' },
      to: { path: '\\.test\\.ts$' },
    },
    {
      name: 'product-never-imports-test-harness',
      severity: 'error',
      from: { path: '^((services|packages|tools)/[^/]+|sample-upstream)/src/', pathNot: '\\.test\\.ts$' },
      to: { path: '/test/', pathNot: 'node_modules' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    // Built from the sources that are checked.
    exclude: { path: '^packages/console/dist' },
    tsConfig: { fileName: 'tsconfig.json' },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default', 'types'],
      extensions: ['.ts', '.tsx', '.mjs', '.js', '.cjs', '.json'],
    },
  },
};
