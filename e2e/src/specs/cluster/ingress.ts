import { request } from 'node:http';
import type { IncomingHttpHeaders } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { waitFor } from '@tollgate/stack/wait-for';
import { hasIngressController } from '@tollgate/testbed/ingress-controller';
import { operate } from '../../operate.ts';
import type { ClusterStack } from '../../stack/cluster.ts';
import { connectFrom } from '../../stack/cluster/foreign-pod.ts';
import { INGRESS_CLASS, PROXY_PEER, startIngressController } from '../../stack/cluster/ingress-controller.ts';
import type { IngressControllerPods } from '../../stack/cluster/ingress-controller.ts';
import { addressOf } from '../../stack/cluster/listeners.ts';
import { RELEASE } from '../../stack/cluster/release.ts';
import { operatorSignInUrl } from '../console/operator-tab.ts';

/** Building Contour from nothing; `npm test` begins it before. */
const START_TIME_LIMIT_MS = 900_000;
const TIME_LIMIT_MS = 120_000;

/** Links to sign in are only made for a loopback address, which this name is by RFC 6761. */
const OPERATORS_HOST = 'ops.localhost';
const PUBLIC_HOST = 'api.localhost';

/** None leads to the operators' console, and what the proxy makes of it leads nowhere else. */
const REFUSED_PATHS = [
  '/',
  '/private',
  '/private/accounts',
  '/private/operators',
  '/metrics',
  '/health/live',
  '/health/ready',
  '/operatorx',
  '/operator-x/',
  '/OPERATOR/',
  '/operator/../private/accounts',
  '/operator/./../private/accounts',
  '/operator/x/../../private/accounts',
  '/operator//../../private/accounts',
  '/operator/../metrics',
  '/operator/../health/live',
  '/operator/%2e%2e/private/accounts',
  '/operator/.%2E/private/accounts',
  '/%2e%2e/private/accounts',
  '/operator/..%2fprivate/accounts',
  '/operator/..%2Fmetrics',
  '/operator/%2e%2e%2fprivate/accounts',
  '/operator%2f..%2fprivate',
  '/operator%2F..%2Fprivate%2Faccounts',
  '/operator%252f..%252fprivate',
  '/operator/..%5cprivate/accounts',
  String.raw`/operator/..\private/accounts`,
  String.raw`/operator\..\private\accounts`,
  '/operator%5c..%5cprivate',
  '/operator/..;/private/accounts',
  '/operator;/../private/accounts',
  '/operator;/..%2fprivate/accounts',
  '//private',
  '//private/accounts',
  '///metrics',
  '//operator/../private/accounts',
  '/%2fprivate/accounts',
  '/x/../private/accounts',
  `http://${OPERATORS_HOST}/private/accounts`,
  `http://${OPERATORS_HOST}/operator/../private/accounts`,
  `http://${RELEASE}-account-private:4102/private/accounts`,
];

/** Pages of the console's, like any: Envoy makes the first /operator/private/accounts, and the second has no dots. */
const CONSOLE_PATHS = ['/operator//../private/accounts', '/operator/%252e%252e/private/accounts'];

/** What a caller may claim of itself. */
const HOSTILE = {
  'x-forwarded-for': '203.0.113.66',
  forwarded: 'for=203.0.113.66;host=evil.example;proto=https',
  'x-real-ip': '203.0.113.66',
  'x-forwarded-host': 'evil.example',
  'x-original-url': '/private/accounts',
  'x-rewrite-url': '/private/accounts',
  'x-envoy-original-path': '/private/accounts',
  'x-envoy-external-address': '203.0.113.66',
  'x-forwarded-prefix': '/private',
};

const PAGE = { accept: 'text/html' };

type Sent = { method?: string; host?: string; headers?: Record<string, string>; body?: unknown };

/** docs/kubernetes.md, "The operators' console": the chart's Ingresses, as Contour and Envoy read them. */
export function ingress(stack: () => ClusterStack): void {
  const isPossible = hasIngressController();
  if (!isPossible) {
    process.stderr.write('Left out: Contour isn’t built. REQUIRE_INGRESS_CONTROLLER=1 builds it, with Go.\n');
  }

  (isPossible ? describe : describe.skip)('behind an ingress controller', () => {
    let controller: IngressControllerPods;
    /** The node's: no address of a pod. */
    let callerAddress: string;

    beforeAll(async () => {
      const { kubectl, upgrade } = stack();
      const address = '{.items[0].status.addresses[?(@.type=="InternalIP")].address}';
      callerAddress = await kubectl('get', 'nodes', `--output=jsonpath=${address}`);
      controller = await startIngressController();
      // A node's pods share a network of 256 addresses, unless a cluster is set up in another way.
      const podNetworks = [controller.proxy.host.replace(/\d+$/, '0/24')];
      await upgrade({
        podNetworks,
        ingress: { enabled: true, className: INGRESS_CLASS, host: PUBLIC_HOST },
        gateway: { settings: { TRUSTED_PROXIES: podNetworks.join(' ') } },
        operators: {
          ingress: { enabled: true, className: INGRESS_CLASS, host: OPERATORS_HOST, from: [PROXY_PEER] },
        },
      });
      for (const [path, host] of [
        ['/operator/', OPERATORS_HOST],
        ['/user', PUBLIC_HOST],
      ] as const) {
        const answers = async () => (await send(path, { host, headers: PAGE })).status === 200;
        await waitFor(answers, { what: `${host}${path} to answer`, timeoutMs: TIME_LIMIT_MS });
      }
    }, START_TIME_LIMIT_MS);

    // A hook without a controller is one that has failed to start.
    afterAll(() => (controller as IngressControllerPods | undefined)?.remove(), TIME_LIMIT_MS);

    /** The path as it is: fetch would resolve it. From the node's own address: the bridge's is of the pods' network. */
    const send = (path: string, { method = 'GET', host = OPERATORS_HOST, headers = {}, body }: Sent = {}) =>
      new Promise<{ status: number; headers: IncomingHttpHeaders; body: string }>((resolve, reject) => {
        const json = body === undefined ? {} : { 'content-type': 'application/json' };
        const options = {
          ...controller.proxy,
          localAddress: callerAddress,
          agent: false,
          path,
          method,
          headers: { ...json, ...headers, host },
        };
        const sent = request(options, (response) => {
          text(response).then((read) => {
            resolve({ status: response.statusCode ?? 0, headers: response.headers, body: read });
          }, reject);
        });
        sent.once('error', reject).end(body === undefined ? undefined : JSON.stringify(body));
      });

    test('operators reach their console, and customers theirs', async () => {
      for (const path of ['/operator', '/operator/']) {
        const page = await send(path, { headers: PAGE });
        expect([page.status, page.body.slice(0, 15)]).toEqual([200, '<!doctype html>']);
      }
      const session = await send('/operator/api/session');
      expect([session.status, JSON.parse(session.body)]).toEqual([
        401,
        expect.objectContaining({ code: 'unauthorized' }),
      ]);
      expect((await send('/user', { headers: PAGE, host: PUBLIC_HOST })).status).toBe(200);
    });

    test.each(REFUSED_PATHS)('%s is 404', async (path) => {
      for (const headers of [{}, PAGE, HOSTILE]) {
        expect((await send(path, { headers })).status).toBe(404);
      }
    });

    test.each(CONSOLE_PATHS)('%s is the console’s, which asks for its session', async (path) => {
      const { status, headers } = await send(path);
      // The private API would ask for Basic credentials.
      expect([status, headers['www-authenticate']]).toEqual([401, 'Bearer realm="tollgate"']);
    });

    test('a path that would end elsewhere is 400 or 404, whatever its method', async () => {
      for (const path of ['/operator/%00/private', '/operator#/../private/accounts', '*']) {
        expect([path, (await send(path)).status]).toEqual([path, 400]);
      }
      for (const method of ['HEAD', 'OPTIONS', 'POST', 'PUT', 'DELETE', 'TRACE']) {
        for (const path of ['/private/accounts', '/metrics', '/operator/..%2fprivate/accounts']) {
          expect([method, path, (await send(path, { method })).status]).toEqual([method, path, 404]);
        }
      }
    });

    test('other hosts have no operators’ console, and none of the private listener', async () => {
      const hosts = [PUBLIC_HOST, 'other.example', `x.${OPERATORS_HOST}`, `${RELEASE}-account-private`, ''];
      for (const host of hosts) {
        for (const path of ['/operator/', '/operator/api/session', '/private/accounts', '/metrics']) {
          expect([host, path, (await send(path, { host })).status]).toEqual([host, path, 404]);
        }
      }
    });

    test('the audit log has the caller’s address, whatever the caller claims', async () => {
      const { demo } = stack();
      for (const headers of [{}, HOSTILE]) {
        const token = new URL(await operatorSignInUrl(demo, 'viewer')).hash.replace('#sign-in=', '');
        const signedIn = await send('/operator/api/sign-in/link', {
          method: 'POST',
          headers,
          body: { token },
        });
        expect(signedIn.status).toBe(201);
        const newest = '/private/audit-log?action=operator_signed_in&limit=1';
        const { entries } = await operate<{ entries: { address: string }[] }>(demo, 'GET', newest);
        expect(entries[0]?.address).toBe(callerAddress);
      }
    });

    test('only the proxy’s pods reach account’s private listener, not others of its namespace', async () => {
      const service = (name: string) => addressOf(stack().kubectl, `${RELEASE}-${name}`);
      const targets = [
        { name: 'gateway', host: await service('gateway'), port: 4000 },
        { name: 'account-private', host: await service('account-private'), port: 4102 },
      ];
      expect(await connectFrom(controller.kubectl, targets)).toEqual(['gateway']);
    });
  });
}
