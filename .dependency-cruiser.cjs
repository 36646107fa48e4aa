/** account's folders, and the folders that each may import: dependencies between them go one way. */
const domainBase = ['http', 'platform', 'mail', 'identity'];
const accountFolders = {
  http: [],
  platform: ['http'],
  mail: ['http', 'platform'],
  identity: ['http', 'platform', 'mail'],
  access: domainBase,
  billing: domainBase,
  teams: [...domainBase, 'billing'],
  'billing/self-service': [...domainBase, 'billing', 'teams'],
  notifications: [...domainBase, 'billing'],
  usage: [...domainBase, 'billing', 'access', 'notifications'],
  'identity/deletion': [...domainBase, 'access', 'billing', 'teams', 'notifications', 'usage'],
  'identity/export': [...domainBase, 'access', 'billing', 'teams', 'notifications', 'usage'],
  'api-document': ['http', 'platform', 'identity', 'access', 'teams', 'billing', 'notifications', 'usage'],
};

const accountLayers = Object.entries(accountFolders).map(([folder, imports]) => ({
  name: `account-${folder}-imports`,
  severity: 'error',
  from: {
    path: `^services/account/src/${folder}/`,
    pathNot: [
      '\\.test\\.ts$',
      ...Object.keys(accountFolders)
        .filter((inner) => inner.startsWith(`${folder}/`))
        .map((inner) => `^services/account/src/${inner}/`),
    ],
  },
  to: {
    path: '^services/account/src/',
    pathNot: `^services/account/src/(${[folder, ...imports].join('|')})/`,
  },
}));

/** The rooms of docs/architecture.md: who may import whom. */
module.exports = {
  forbidden: [
    ...accountLayers,
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
