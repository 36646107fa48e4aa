import type { IncomingMessage, ServerResponse } from 'node:http';
import type { UsageEvent } from '@tollgate/contracts/usage-stream';
import { startRedis } from '@tollgate/testbed/redis';
import type { OwnRedis } from '@tollgate/testbed/redis';
import { becomeReady, startServiceProcess } from '@tollgate/testbed/service-process';
import type { ServiceProcess } from '@tollgate/testbed/service-process';
import { call } from './http-client.ts';
import type { Answer, Call } from './http-client.ts';
import { metricOf } from './metric.ts';
import { startAccountStandIn, startAuthStandIn } from './stand-ins.ts';
import type { AccountStandIn, AuthStandIn } from './stand-ins.ts';
import { recordedUsage } from './records/recorded-usage.ts';
import { startServer } from './upstreams/server.ts';

export type Handler = (req: IncomingMessage, res: ServerResponse) => void;

/** A gateway process over its own Redis, with stand-ins for auth and account, and an upstream that the test controls. */
export type GatewayUnderTest = {
  /** The data endpoint. */
  graphqlUrl: string;
  process: ServiceProcess;
  redis: OwnRedis;
  auth: AuthStandIn;
  account: AccountStandIn;
  /** Sets the upstream's behaviour from now on. */
  upstream: (handler: Handler) => void;
  /** Calls the data endpoint, with a new token unless one is given. */
  query: (options?: Call & { token?: string; search?: string }) => Promise<Answer>;
  /** Another gateway process over the same Redis and stand-ins. */
  startTwin: () => Promise<Pick<GatewayUnderTest, 'process' | 'query'>>;
  /** Waits until usage events of at least `calls` calls, of one account or of all, are in Redis, and returns them all. */
  usage: (calls: number, accountId?: number) => Promise<UsageEvent[]>;
  /** Sum of a metric's samples that have all the given labels. */
  metric: (name: string, labels?: Record<string, string>) => Promise<number>;
  stop: () => Promise<void>;
};

export type GatewayOptions = {
  /** Settings that differ from the suite's. */
  env?: Record<string, string>;
  /** The public listeners of auth and account, for the plain routes. */
  publicUrls?: { auth: string; account: string };
  /** Redis as the gateway addresses it. */
  redisUrl?: (redis: OwnRedis) => Promise<string>;
};

/** An upstream that answers every call with a small document. */
export const answerOk: Handler = (req, res) => {
  req.resume().once('end', () => {
    res.writeHead(200, { 'content-type': 'application/json' }).end('{"data":{}}');
  });
};

export async function startGateway(options: GatewayOptions = {}): Promise<GatewayUnderTest> {
  const [redis, auth, account] = await Promise.all([startRedis(), startAuthStandIn(), startAccountStandIn()]);
  let handler = answerOk;
  const upstream = await startServer((req, res) => {
    handler(req, res);
  });
  const env = {
    REDIS_URL: (await options.redisUrl?.(redis)) ?? redis.url,
    AUTH_PRIVATE_URL: auth.url,
    AUTH_PUBLIC_URL: options.publicUrls?.auth ?? auth.url,
    ACCOUNT_PRIVATE_URL: account.url,
    ACCOUNT_PUBLIC_URL: options.publicUrls?.account ?? account.url,
    UPSTREAM_URL: `${upstream.url}/data/graphql`,
    ...options.env,
  };
  const gateway = await startServiceProcess('gateway', env);
  await becomeReady(gateway);
  const ownToken = auth.issue();
  const queryOf =
    ({ publicUrl }: ServiceProcess): GatewayUnderTest['query'] =>
    ({ token = ownToken, search = '', headers, ...rest } = {}) =>
      call(`${publicUrl}/graphql${search}`, {
        ...(rest.method === 'GET' ? {} : { body: '{"query":"{ __typename }"}' }),
        ...rest,
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
      });
  const twins: ServiceProcess[] = [];
  return {
    graphqlUrl: `${gateway.publicUrl}/graphql`,
    process: gateway,
    redis,
    auth,
    account,
    upstream: (next) => {
      handler = next;
    },
    query: queryOf(gateway),
    usage: (calls, accountId) => recordedUsage(redis.url, calls, accountId),
    metric: (name, labels) => metricOf(gateway, name, labels),
    startTwin: async () => {
      const twin = await startServiceProcess('gateway', env);
      twins.push(twin);
      await becomeReady(twin);
      return { process: twin, query: queryOf(twin) };
    },
    stop: async () => {
      await Promise.all([gateway, ...twins].map((one) => one.stop()));
      await Promise.all([upstream.close(), auth.close(), account.close(), redis.stop()]);
    },
  };
}
