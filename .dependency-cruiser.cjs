const base = ['http', 'platform', 'mail', 'identity'];

/**
 * The rooms of each root, from the ground up: `of` lists which of the rooms above it in the table a room may import,
 * `floors` its own folders (`.`: the files beside them), each of which may import those before it. So neither table can
 * hold a circle. A room that isn't listed, such as the one that composes a service, may import all of them. Each may
 * import the type of the settings. `open.ts` builds a room from all its floors, and only `compose.ts` imports it.
 */
const rooms = {
  'services/account/src': {
    http: { of: [], floors: ['input', '.'] },
    platform: {
      of: ['http'],
      floors: ['database', 'sealing', 'audit', 'background', 'outbox', 'money', 'outgoing', '.'],
    },
    mail: { of: ['http', 'platform'], floors: ['layout', '.'] },
    identity: {
      of: ['http', 'platform', 'mail'],
      floors: [
        '.',
        'attempts',
        'passwords',
        'accounts',
        'mails',
        'sessions',
        'activity',
        'people',
        'two-factor',
      ],
    },
    oidc: { of: ['http'] },
    console: { of: ['http', 'identity'], floors: ['addresses', 'explorer', '.'] },
    billing: {
      of: base,
      floors: [
        'periods',
        'budgets',
        'credits',
        'plans',
        'subscriptions',
        'entitlements',
        'period-changes',
        'sign-up-plan',
      ],
    },
    access: {
      of: [...base, 'billing'],
      floors: [
        'authentication',
        'client-changes',
        'redirect-uris',
        'registrations',
        'authorization',
        'connections',
        'applications',
        'documents',
        'tokens',
        'clients',
      ],
    },
    teams: {
      of: [...base, 'oidc', 'billing', 'access'],
      floors: ['.', 'domains', 'invitations', 'connections', 'sso', 'operators', 'console'],
    },
    scim: {
      of: [...base, 'access', 'billing', 'teams'],
      floors: ['protocol', 'settings', 'people', 'groups', 'tokens', 'console', '.'],
    },
    budgets: { of: [...base, 'access', 'billing', 'teams'] },
    'self-service': { of: [...base, 'billing', 'teams'] },
    notifications: {
      of: [...base, 'billing'],
      floors: ['secrets', 'deliveries', 'webhooks', 'credits', 'budgets', 'alerts'],
    },
    payments: {
      of: [...base, 'billing', 'teams', 'self-service', 'notifications'],
      floors: [
        'money',
        '.',
        'stripe',
        'packs',
        'prices',
        'issues',
        'purchases',
        'top-ups',
        'overage',
        'reversals',
        'subscriptions',
        'team-slots',
        'invoices',
        'events',
        'reconcile',
      ],
    },
    'plans-as-code': { of: [...base, 'billing', 'payments'] },
    counting: {
      of: ['http', 'platform', 'access', 'billing'],
      floors: [
        'refresh',
        'retention',
        'snapshot',
        'stream',
        'counters',
        'operations',
        'gaps',
        'reader',
        'repairs',
        'reports',
        'unassigned',
        'checks',
        '.',
      ],
    },
    closing: { of: ['platform', 'billing', 'counting'] },
    usage: {
      of: [...base, 'access', 'billing', 'notifications'],
      floors: ['current', 'credits', 'views', 'by-operation', 'live', '.'],
    },
    refusals: { of: [...base, 'billing', 'counting', 'usage'], floors: ['.', 'console'] },
    operators: {
      of: [...base, 'oidc', 'console', 'access', 'billing', 'payments', 'plans-as-code', 'refusals'],
    },
    operating: {
      of: [...base, 'access', 'billing', 'notifications', 'counting', 'closing', 'payments'],
      floors: ['health-report', '.'],
    },
    lifecycle: {
      of: [...base, 'access', 'billing', 'teams', 'notifications', 'refusals', 'payments'],
      floors: ['deletion', 'export', 'housekeeping'],
    },
    'api-document': { of: ['http'], floors: ['page', '.'] },
  },
  'services/auth/src': {
    http: { of: [] },
    oauth: { of: [] },
    redis: { of: [] },
    platform: { of: ['redis'] },
    abuse: { of: ['oauth', 'redis', 'platform'] },
    client: { of: ['oauth', 'redis', 'platform', 'abuse'] },
    token: { of: ['redis', 'platform', 'abuse', 'client'] },
    restore: { of: ['redis', 'platform', 'client'] },
    endpoints: { of: ['http', 'oauth', 'redis', 'abuse', 'client', 'token'] },
  },
  'packages/console/src': {
    api: { of: [] },
    ui: { of: ['api'], floors: ['part', 'chart', '.', 'page', 'form', 'list', 'secret', 'usage'] },
    'code-samples': { of: ['api', 'ui'], floors: ['languages', '.'] },
    pages: {
      of: ['api', 'ui', 'code-samples'],
      floors: [
        'account',
        'entry',
        'plan',
        'requests',
        'tokens',
        'usage',
        'webhooks',
        'applications',
        'overview',
        'team',
        'alerts',
        'explorer',
        '.',
      ],
    },
    shell: { of: ['api', 'ui', 'pages'] },
  },
  'services/gateway/src': {
    http: { of: [] },
    trace: { of: [] },
    'operation-reader': { of: ['http'] },
    ledger: { of: ['operation-reader'] },
    estimate: { of: ['http', 'operation-reader', 'ledger'] },
    'body-worker': { of: ['http', 'operation-reader', 'estimate'] },
    refusals: { of: ['http', 'trace'] },
    'pipeline/authenticate': { of: ['http'] },
    'pipeline/entitle': { of: ['ledger'] },
    'pipeline/admit': { of: ['operation-reader', 'ledger'] },
    'pipeline/forward': { of: ['http', 'trace', 'operation-reader', 'ledger', 'pipeline/admit'] },
    'pipeline/settle': { of: ['operation-reader', 'ledger'] },
    streams: {
      of: ['operation-reader', 'ledger', 'pipeline/admit', 'pipeline/forward', 'pipeline/settle'],
    },
    pipeline: { of: ['http', 'trace', 'operation-reader', 'ledger', 'estimate', 'refusals', 'streams'] },
    websocket: {
      of: ['http', 'trace', 'operation-reader', 'ledger', 'estimate', 'refusals', 'streams', 'pipeline'],
    },
    'passed-on': { of: ['http'] },
  },
};

/** @throws {Error} if a room may import one that is listed below it */
function layersOf(root) {
  const table = Object.entries(rooms[root]);
  return table.flatMap(([room, { of, floors = [] }], row) => {
    const above = table.slice(0, row).map(([name]) => name);
    const later = of.filter((name) => !above.includes(name));
    if (later.length > 0)
      throw new Error(`${root}/${room} imports ${later.join()}, which is listed below it`);
    const inside = floors.map((folder, floor) =>
      layer(
        root,
        `${room}/${folder}`,
        floors.slice(0, floor).map((lower) => `${room}/${lower}`),
        room,
      ),
    );
    return [layer(root, room, of), ...inside];
  });
}

/** Files of `folder` import nothing of `within` but what lies in it and in `imports`. */
function layer(root, folder, imports, within = '') {
  return {
    name: `${root.split('/')[1]}-${folder}-imports`,
    severity: 'error',
    from: {
      path: filesOf(root, [folder]),
      pathNot: ['\\.test\\.tsx?$', ...(within === '' ? [] : [`^${root}/${within}/open\\.ts$`])],
    },
    to: {
      path: filesOf(root, [within]),
      pathNot: [filesOf(root, [folder, ...imports]), `^${root}/config\\.ts$`],
    },
  };
}

/** The files of folders, and of those in them; of `folder/.` only its own. */
function filesOf(root, folders) {
  const alternatives = folders.map((folder) =>
    folder === '' ? '' : folder.endsWith('/.') ? `${folder.slice(0, -1)}[^/]+$` : `${folder}/`,
  );
  return `^${root}/(?:${alternatives.join('|')})`;
}

/** The rooms of docs/architecture.md: who may import whom. */
module.exports = {
  forbidden: [
    ...Object.keys(rooms).flatMap(layersOf),
    {
      name: 'only-compose-opens-domains',
      comment: 'their open.ts know the platform that they are built with',
      severity: 'error',
      from: { path: '^services/(account|auth)/src/', pathNot: '/(compose|open)\\.ts$' },
      to: { path: '^services/(account|auth)/src/[^/]+/open\\.ts$' },
    },
    {
      name: 'a-domain-opens-no-other',
      severity: 'error',
      from: { path: '^services/(account|auth)/src/[^/]+/open\\.ts$' },
      to: { path: '^services/(account|auth)/src/[^/]+/open\\.ts$', pathNot: '/platform/open\\.ts$' },
    },
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
      to: { path: '^(services|e2e|bench|scripts|sample-payments|sample-upstream)/' },
    },
    {
      name: 'services-import-only-packages',
      severity: 'error',
      from: { path: '^services/' },
      to: { path: '^(e2e|bench|scripts|sample-payments|sample-upstream)/' },
    },
    {
      name: 'client-libraries-stand-alone',
      severity: 'error',
      from: { path: '^clients/[^/]+/src/', pathNot: '\\.test\\.ts$' },
      to: { path: '^(services|packages|tools|e2e|bench|scripts|sample-payments|sample-upstream)/' },
    },
    {
      name: 'samples-stand-alone',
      severity: 'error',
      from: { path: '^sample-(payments|upstream)/', pathNot: '\\.test\\.ts$' },
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
      comment:
        'that peer is installed by itself, when the bench is to run it; that program runs where the packed library is installed; Astro has modules without files',
      severity: 'error',
      from: { pathNot: '^(bench/peers/express-gateway/|clients/typescript/test/suite/program[.]mjs$)' },
      to: { couldNotResolve: true, pathNot: '^astro:' },
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
      from: {
        path: '^((services|packages|tools)/[^/]+|sample-payments|sample-upstream)/src/',
        pathNot: '\\.test\\.ts$',
      },
      to: { path: '/test/', pathNot: 'node_modules' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    // Built from the sources that are checked.
    exclude: { path: '^(packages/(console|docs)|clients/[^/]+)/(dist|[.]astro)' },
    tsConfig: { fileName: 'tsconfig.json' },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default', 'types'],
      extensions: ['.ts', '.tsx', '.mjs', '.js', '.cjs', '.json'],
    },
  },
};
