import type { RequestListener } from 'node:http';
import { newAccessToken } from '@tollgate/access-token';
import type { Entitlement } from '@tollgate/contracts/entitlement';
import { LIMIT_FIELDS } from '@tollgate/contracts/entitlement';
import { bodyOf, startServer } from './server.ts';
import type { TestServer } from './server.ts';

/**
 * Stand-ins for auth and account over HTTP, for suites where the gateway is what is tested. The suites of
 * e2e/ run it beside the real ones.
 */
type Peer = {
  url: string;
  /** Paths of the private requests that came, in order. */
  requests: string[];
  /** The Authorization header of the last private request. */
  lastAuthorization: () => string | undefined;
  goAway: () => Promise<void>;
  comeBack: () => Promise<void>;
  close: () => Promise<void>;
};

type Answer = { status: number; body: unknown };

async function startPeer(answer: (path: string, body: string) => Answer): Promise<Peer> {
  const requests: string[] = [];
  let authorization: string | undefined;
  const handler: RequestListener = (req, res) => {
    void bodyOf(req).then((body) => {
      requests.push(req.url ?? '');
      authorization = req.headers.authorization;
      const { status, body: document } = answer(req.url ?? '', body.toString());
      res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(document));
    });
  };
  let server: TestServer = await startServer(handler);
  const { url, port } = server;
  return {
    url,
    requests,
    lastAuthorization: () => authorization,
    goAway: () => server.close(),
    comeBack: async () => {
      server = await startServer(handler, port);
    },
    close: () => server.close(),
  };
}

export type AuthPeer = Peer & {
  /** A new token of an application, good until it is revoked. */
  issue: (owner?: { accountId?: number; applicationId?: number }) => string;
  revoke: (token: string) => void;
};

/** auth's private listener, as far as the gateway calls it. */
export async function startAuthPeer(): Promise<AuthPeer> {
  const owners = new Map<string, { accountId: number; applicationId: number }>();
  const peer = await startPeer((_path, body) => {
    const owner = owners.get(new URLSearchParams(body).get('token') ?? '');
    return { status: 200, body: owner === undefined ? { active: false } : introspection(owner) };
  });
  return {
    ...peer,
    issue: ({ accountId = 7, applicationId = 70 } = {}) => {
      const token = newAccessToken('tg', crypto.randomUUID());
      owners.set(token, { accountId, applicationId });
      return token;
    },
    revoke: (token) => {
      owners.delete(token);
    },
  };
}

function introspection({ accountId, applicationId }: { accountId: number; applicationId: number }) {
  const now = Math.floor(Date.now() / 1000);
  return {
    active: true,
    scope: 'api',
    client_id: '00000000-0000-4000-8000-000000000000',
    sub: String(accountId),
    token_type: 'bearer',
    exp: now + 3600,
    iat: now,
    account_id: accountId,
    application_id: applicationId,
  };
}

export type AccountPeer = Peer & {
  /** Changes an account's entitlement; others are active, paid by themselves, in period account_id × 10. */
  entitle: (accountId: number, change: Partial<Entitlement> | 'unknown') => void;
};

/** account's private listener, as far as the gateway calls it. */
export async function startAccountPeer(): Promise<AccountPeer> {
  const changes = new Map<number, Partial<Entitlement> | 'unknown'>();
  const peer = await startPeer((path) => {
    const accountId = Number(/^\/private\/entitlements\/(\d+)$/.exec(path)?.[1]);
    const change = changes.get(accountId);
    return change === 'unknown'
      ? { status: 404, body: { code: 'not_found' } }
      : { status: 200, body: { ...activeEntitlement(accountId), ...change } };
  });
  return {
    ...peer,
    entitle: (accountId, change) => {
      changes.set(accountId, change);
    },
  };
}

/** An entitlement with an active period and no limits. */
export function activeEntitlement(accountId: number): Entitlement {
  return {
    account_id: accountId,
    payer_id: accountId,
    status: 'active',
    valid_until: null,
    billing_period: {
      period_id: accountId * 10,
      limits: Object.fromEntries(LIMIT_FIELDS.map((field) => [field, null])) as NonNullable<
        Entitlement['billing_period']
      >['limits'],
    },
  };
}
