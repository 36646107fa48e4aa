import { hash } from 'node:crypto';
import type { IncomingHttpHeaders, RequestListener } from 'node:http';
import { newAccessToken } from '@tollgate/credentials/access-token';
import type { Budgets, CallRules, Credits, Entitlement, Limits } from '@tollgate/contracts/entitlement';
import { ENTITLEMENT_CHANNEL, LIMIT_FIELDS } from '@tollgate/contracts/entitlement';
import type { ActiveToken } from '@tollgate/contracts/introspection';
import type { BudgetKind, Spent, UsageSnapshot } from '@tollgate/contracts/usage-stream';
import type { TrustedDocuments } from '@tollgate/contracts/trusted-documents';
import { createLogger } from '@tollgate/log';
import { openRedis } from '@tollgate/redis';
import { waitFor } from '@tollgate/stack/wait-for';
import { activeToken } from '@tollgate/testbed/active-token';
import { bodyOf, startServer } from './upstreams/server.ts';
import type { TestServer } from './upstreams/server.ts';

const PLAN_LIMITS_PATH = '/private/plan-limits';

/** Stand-ins for auth and account over HTTP, for suites that test the gateway; e2e/ has the real ones. */
type StandIn = {
  url: string;
  /** Paths of private requests, in order. */
  requests: string[];
  /** The headers of the last private request whose path begins with `path`. */
  headersAt: (path: string) => IncomingHttpHeaders;
  /** The Authorization header of the last private request. */
  lastAuthorization: () => string | undefined;
  goAway: () => Promise<void>;
  comeBack: () => Promise<void>;
  close: () => Promise<void>;
};

type Answer = { status: number; body: unknown };

async function startStandIn(answer: (path: string, body: string) => Answer): Promise<StandIn> {
  const requests: string[] = [];
  let authorization: string | undefined;
  const headers = new Map<string, IncomingHttpHeaders>();
  const handler: RequestListener = (req, res) => {
    void bodyOf(req).then((body) => {
      // Asked once at the start, whatever a suite does.
      if (req.url !== PLAN_LIMITS_PATH) requests.push(req.url ?? '');
      headers.set(req.url ?? '', req.headers);
      ({ authorization } = req.headers);
      const { status, body: document } = answer(req.url ?? '', body.toString());
      res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(document));
    });
  };
  let server: TestServer = await startServer(handler);
  const { url, port } = server;
  return {
    url,
    requests,
    headersAt: (path) => [...headers].findLast(([at]) => at.startsWith(path))?.[1] ?? {},
    lastAuthorization: () => authorization,
    goAway: () => server.close(),
    comeBack: async () => {
      server = await startServer(handler, port);
    },
    close: () => server.close(),
  };
}

/** Of every token. */
const CLIENT_ID = '00000000-0000-4000-8000-000000000000';

type TokenOwner = {
  accountId: number;
  applicationId: number;
  lifespanSec: number;
  grant?: Pick<ActiveToken, 'via' | 'aud' | 'scope'>;
};

export type AuthStandIn = StandIn & {
  /** A new token, active until it is revoked. */
  issue: (owner?: Partial<TokenOwner>) => string;
  revoke: (token: string) => void;
};

/** auth's private listener, as far as the gateway calls it. */
export async function startAuthStandIn(): Promise<AuthStandIn> {
  const owners = new Map<string, TokenOwner & { iat: number }>();
  const standIn = await startStandIn((_path, body) => {
    const owner = owners.get(new URLSearchParams(body).get('token') ?? '');
    const answer = owner === undefined ? { active: false } : activeToken({ clientId: CLIENT_ID, ...owner });
    return { status: 200, body: answer };
  });
  return {
    ...standIn,
    issue: ({ accountId = 7, applicationId = 70, lifespanSec = 3_600, grant } = {}) => {
      const token = newAccessToken('tg', crypto.randomUUID());
      owners.set(token, {
        accountId,
        applicationId,
        lifespanSec,
        iat: Math.floor(Date.now() / 1_000),
        ...(grant !== undefined && { grant }),
      });
      return token;
    },
    revoke: (token) => {
      owners.delete(token);
    },
  };
}

export type AccountStandIn = StandIn & {
  /** Changes an account's entitlement; others are active, pay for themselves, and have the period account_id × 10. */
  entitle: (accountId: number, change: Partial<Entitlement> | 'unknown') => void;
  /** Changes a period's counted usage; others have none. */
  count: (periodId: number, change: Partial<UsageSnapshot> | 'unknown') => void;
  /** Sets what an application or a member has spent of budgets; others have spent nothing. */
  spend: (kind: BudgetKind, id: number, spent: Spent) => void;
  /** Sets the documents of an application, which are in both versions of the API; others have none. */
  register: (applicationId: number, revision: number, texts: Readonly<Record<string, string>>) => void;
};

/** account's private listener, as far as the gateway calls it. */
export async function startAccountStandIn(): Promise<AccountStandIn> {
  const changes = new Map<number, Partial<Entitlement> | 'unknown'>();
  const counted = new Map<number, Partial<UsageSnapshot> | 'unknown'>();
  const payers = new Map<number, number>();
  const spent = new Map<string, Spent>();
  const documents = new Map<number, TrustedDocuments>();
  const spentOf = (kind: BudgetKind, id: string | null): Partial<Record<BudgetKind, Spent>> =>
    id === null ? {} : { [kind]: spent.get(`${kind} ${id}`) ?? { points: 0, days: [] } };
  const standIn = await startStandIn((path) => {
    if (path === PLAN_LIMITS_PATH) return { status: 200, body: { subscription_limit: 500 } };
    const { pathname, searchParams } = new URL(path, 'http://account');
    const periodId = Number(/^\/private\/usage-snapshots\/(\d+)$/.exec(pathname)?.[1]);
    if (!Number.isNaN(periodId)) {
      const budgets = {
        ...spentOf('application', searchParams.get('application_id')),
        ...spentOf('member', searchParams.get('account_id')),
      };
      const snapshot = emptySnapshot(periodId, payers.get(periodId));
      return found(counted.get(periodId), searchParams.size === 0 ? snapshot : { ...snapshot, budgets });
    }
    const applicationId = Number(/^\/private\/trusted-documents\/(\d+)$/.exec(path)?.[1]);
    if (!Number.isNaN(applicationId))
      return found(documents.get(applicationId), { revision: 0, documents: [] });
    const accountId = Number(/^\/private\/entitlements\/(\d+)$/.exec(path)?.[1]);
    const change = changes.get(accountId);
    const entitlement = { ...activeEntitlement(accountId), ...(change === 'unknown' ? {} : change) };
    payers.set(entitlement.billing_period?.period_id ?? 0, entitlement.payer_id);
    return found(change, entitlement);
  });
  return {
    ...standIn,
    entitle: (accountId, change) => {
      changes.set(accountId, change);
    },
    count: (periodId, change) => {
      counted.set(periodId, change);
    },
    spend: (kind, id, all) => {
      spent.set(`${kind} ${String(id)}`, all);
    },
    register: (applicationId, revision, texts) => {
      documents.set(applicationId, {
        revision,
        documents: (['v1', 'v2'] as const).flatMap((api_version) =>
          Object.entries(texts).map(([document_id, text]) => ({
            api_version,
            sha256: hash('sha256', text),
            document_id,
            text,
          })),
        ),
      });
    },
  };
}

function found(change: object | 'unknown' | undefined, document: object): Answer {
  return change === 'unknown'
    ? { status: 404, body: { code: 'not_found' } }
    : { status: 200, body: { ...document, ...change } };
}

/** A period without counted usage. */
export function emptySnapshot(periodId: number, payerId = periodId / 10): UsageSnapshot {
  return {
    period_id: periodId,
    payer_id: payerId,
    points: 0,
    requests: 0,
    time_ms: 0,
    traffic_bytes: 0,
    stream_position: '0-0',
    usage_version: 0,
  };
}

/** Limits of the account's plan. */
export function withLimits(
  accountId: number,
  limits: Partial<Limits>,
  periodId = accountId * 10,
): Partial<Entitlement> {
  const { billing_period } = activeEntitlement(accountId);
  if (billing_period === null) return {};
  const all = { ...billing_period.limits, ...limits };
  return { billing_period: { ...billing_period, period_id: periodId, limits: all } };
}

/** A period with limited points, of which what exceeds the included points is taken from grants. */
export function withCredits(
  accountId: number,
  { included = 0, settled = 0, open_periods = [], grants = [] }: Partial<Credits>,
  { periodId = accountId * 10, limits = {} }: { periodId?: number; limits?: Partial<Limits> } = {},
): Partial<Entitlement> {
  const points_limit = grants.reduce((sum, { points }) => sum + points, included);
  const { billing_period } = withLimits(accountId, { points_limit, ...limits }, periodId);
  if (billing_period === undefined || billing_period === null) return {};
  return { billing_period: { ...billing_period, credits: { included, settled, open_periods, grants } } };
}

/** A period in which the account, or some of its applications, have budgets. */
export function withBudgets(
  accountId: number,
  budgets: Budgets,
  { periodId = accountId * 10, limits = {} }: { periodId?: number; limits?: Partial<Limits> } = {},
): Partial<Entitlement> {
  const { billing_period } = withLimits(accountId, limits, periodId);
  if (billing_period === undefined || billing_period === null) return {};
  return { billing_period: { ...billing_period, budgets } };
}

/** A plan with rules for each call. */
export function withCallRules(
  accountId: number,
  call_rules: CallRules,
  limits: Partial<Limits> = {},
): Partial<Entitlement> {
  const { billing_period } = withLimits(accountId, limits);
  if (billing_period === undefined || billing_period === null) return {};
  return { billing_period: { ...billing_period, call_rules } };
}

/** An entitlement with an active period and no limits. */
export function activeEntitlement(accountId: number): Entitlement {
  return {
    account_id: accountId,
    payer_id: accountId,
    status: 'active',
    valid_until: null,
    valid_for_ms: null,
    billing_period: {
      period_id: accountId * 10,
      ended_at: '2099-12-31T23:59:59Z',
      limits: Object.fromEntries(LIMIT_FIELDS.map((field) => [field, null])) as NonNullable<
        Entitlement['billing_period']
      >['limits'],
    },
  };
}

/** As account tells gateways that an entitlement has changed. */
export async function publishEntitlementEvent(redisUrl: string, message: string): Promise<void> {
  const redis = openRedis(redisUrl, createLogger('suite', 'silent'));
  await waitFor(() => redis.status === 'ready');
  await redis.publish(ENTITLEMENT_CHANNEL, message);
  redis.disconnect();
}
