import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { freePort } from '@tollgate/stack/ports';
import { waitFor } from '@tollgate/stack/wait-for';
import { findLoadBalancer, startLoadBalancer } from '@tollgate/testbed/load-balancers';
import type { LoadBalancer } from '@tollgate/testbed/load-balancers';
import { startOperatedAccount } from '../../test/suite/operated-account.ts';
import type { OperatedAccount } from '../../test/suite/operated-account.ts';
import { insertOperatorBrowser } from '../../test/suite/operator-browser.ts';

/**
 * The operators' console behind real proxies, with the one path that the chart's Ingress has: as ingress-nginx and
 * HAProxy's controller configure it. Both connect from another address than callers do, as their pods would.
 */

const PROXY_ADDRESS = '127.0.0.2';
const CALLER_ADDRESS = '127.0.0.1';

let suite: OperatedAccount;

beforeAll(async () => {
  suite = await startOperatedAccount({
    settings: {
      // Another origin than the proxy's own address: only this one counts.
      OPERATORS_URL: 'https://ops.example.com/operator',
      TRUSTED_PROXIES: `${PROXY_ADDRESS}/32`,
    },
  });
});

afterAll(() => suite.close());

const headersOfNginx = `
      proxy_set_header Host $http_host;
      proxy_set_header X-Real-IP $remote_addr;
      proxy_set_header X-Forwarded-For $remote_addr;
      proxy_set_header X-Forwarded-Host $http_host;
      proxy_set_header X-Forwarded-Port $server_port;
      proxy_set_header X-Forwarded-Proto $scheme;
      proxy_set_header X-Forwarded-Scheme $scheme;
      proxy_set_header X-Original-Forwarded-For $http_x_forwarded_for;
      proxy_bind ${PROXY_ADDRESS};`;

const CONFIGURATIONS: Record<
  LoadBalancer,
  (ports: { own: number; account: string }) => (directory: string) => string
> = {
  nginx:
    ({ own, account }) =>
    (directory) => `
events {}
http {
  access_log off;
${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((kind) => `  ${kind}_temp_path ${directory}/${kind};`).join('\n')}
  server {
    listen 127.0.0.1:${String(own)};
    location /operator/ {
      proxy_pass ${account};${headersOfNginx}
    }
    location = /operator {
      proxy_pass ${account};${headersOfNginx}
    }
    location / { return 404; }
  }
}
`,
  haproxy:
    ({ own, account }) =>
    () => `
defaults
  mode http
  timeout connect 5s
  timeout client 30s
  timeout server 30s
frontend operators
  bind 127.0.0.1:${String(own)}
  http-request deny deny_status 404 unless { path /operator } or { path_beg /operator/ }
  default_backend account
backend account
  option forwardfor
  http-request set-header X-Forwarded-Host %[req.hdr(Host)]
  source ${PROXY_ADDRESS}
  server account ${new URL(account).host}
`,
};

type Sent = { method?: string; headers?: Record<string, string>; body?: string };

/** The path as it is: fetch would resolve it. */
async function send(origin: string, path: string, { method = 'GET', headers = {}, body }: Sent = {}) {
  const { hostname, port } = new URL(origin);
  return new Promise<{ status: number; body: string }>((resolve, reject) => {
    const sent = request({ hostname, port, path, method, headers }, (response) => {
      text(response).then((read) => {
        resolve({ status: response.statusCode ?? 0, body: read });
      }, reject);
    });
    sent.once('error', reject).end(body);
  });
}

/** What a caller may claim of itself. */
const HOSTILE = {
  'x-forwarded-for': '203.0.113.66',
  forwarded: 'for=203.0.113.66;host=evil.example;proto=https',
  'x-real-ip': '203.0.113.66',
  'x-forwarded-host': 'evil.example',
  'x-forwarded-proto': 'https',
  'x-original-url': '/private/accounts',
  'x-rewrite-url': '/private/accounts',
  'x-forwarded-prefix': '/private',
};

async function blockedFrom(origin: string, headers: Record<string, string>) {
  const { browser, operator_id } = await insertOperatorBrowser(suite.database, 'support');
  const { status } = await send(origin, `/operator/api/accounts/${String(suite.account_id)}/block`, {
    method: 'POST',
    headers: {
      cookie: `__Host-tollgate_operator=${browser.cookies['tollgate_operator'] ?? ''}`,
      'x-csrf-token': browser.csrf,
      ...headers,
    },
  });
  const entry = (await suite
    .database('audit_log')
    .where({ action: 'account_blocked', actor: `operator:person/${String(operator_id)}` })
    .first()) as { address: string } | undefined;
  await suite.database('accounts').where({ account_id: suite.account_id }).update({ blocked_at: null });
  return [status, entry?.address];
}

describe.each(['nginx', 'haproxy'] as const)('behind %s', (name) => {
  let origin: string | null = null;
  let stop: (() => Promise<unknown>) | undefined;

  beforeAll(async () => {
    const program = await findLoadBalancer(name);
    if (program === null) {
      process.stderr.write(`Left out: ${name} is not installed. REQUIRE_LOAD_BALANCERS=1 gets it.\n`);
      return;
    }
    const own = await freePort();
    const process_ = await startLoadBalancer(
      name,
      program,
      CONFIGURATIONS[name]({ own, account: suite.account.privateUrl }),
    );
    stop = () => process_.stop();
    const started = `http://127.0.0.1:${String(own)}`;
    await waitFor(async () => (await send(started, '/').catch(() => ({ status: 0 }))).status === 404);
    origin = started;
  });

  afterAll(() => stop?.());

  test.each([
    '/',
    '/private/accounts',
    '/private/operators',
    '/metrics',
    '/health/live',
    '/health/ready',
    '/operatorx',
    '/OPERATOR/',
    '/operator/../private/accounts',
    '/operator/./../private/accounts',
    '/operator/%2e%2e/private/accounts',
    '/operator/..%2fprivate/accounts',
    '/operator/..;/private/accounts',
    '/operator/..%5cprivate/accounts',
    '/operator%2f..%2fprivate',
    '//private/accounts',
    '/%2fprivate/accounts',
    '/x/../private/accounts',
  ])('%s is 404', async (path) => {
    if (origin === null) return;
    for (const headers of [{}, HOSTILE, { accept: 'text/html' }]) {
      expect((await send(origin, path, { headers })).status).toBe(404);
    }
  });

  test('the console answers, and what a caller claims leads nowhere else', async () => {
    if (origin === null) return;
    const asked = { headers: { accept: 'application/json' } };
    expect((await send(origin, '/operator/', asked)).status).toBe(401);
    expect((await send(origin, '/operator/api/session', { headers: HOSTILE })).status).toBe(401);
    const { status, body } = await send(origin, '/operator/api/sign-in', { headers: HOSTILE });
    const passkeys = { origin: 'https://ops.example.com' };
    expect([status, JSON.parse(body)]).toEqual([200, expect.objectContaining({ passkeys })]);
  });

  test('the audit log has the caller’s address, whatever the caller claims', async () => {
    if (origin === null) return;
    expect(await blockedFrom(origin, {})).toEqual([200, CALLER_ADDRESS]);
    expect(await blockedFrom(origin, HOSTILE)).toEqual([200, CALLER_ADDRESS]);
  });

  test('a page of another origin changes nothing, whatever host it claims', async () => {
    if (origin === null) return;
    const claimed = { origin: 'https://evil.example', host: 'evil.example' };
    expect(await blockedFrom(origin, { ...HOSTILE, ...claimed })).toEqual([403, undefined]);
    expect(await blockedFrom(origin, { origin: 'https://ops.example.com' })).toEqual([200, CALLER_ADDRESS]);
  });
});

describe('straight to the listener', () => {
  test('a caller can’t choose its address', async () => {
    expect(await blockedFrom(suite.account.privateUrl, HOSTILE)).toEqual([200, CALLER_ADDRESS]);
  });

  test('all else refuses what came through a proxy', async () => {
    for (const path of ['/private/accounts', '/metrics', '/operator%2f..%2fprivate', '//private']) {
      const { status } = await send(suite.account.privateUrl, path, { headers: HOSTILE });
      expect([path, status]).toEqual([path, 403]);
    }
  });
});
