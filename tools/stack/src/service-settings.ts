import { EXPLORER_EXAMPLES } from './explorer-examples.ts';

export type StackPlan = {
  ports: Readonly<Record<ServicePort, number>>;
  upstreamUrl: string;
  /** Where the upstream's schema states its costs; without it, there are no estimates. */
  schemaUrl?: string;
  databaseUrl: string;
  redisUrl: string;
  mailDirectory: string;
  /** Value of CLIENT_SECRET_PEPPERS. */
  peppers: string;
  /** Value of TOKEN_SEALING_KEYS. */
  sealingKeys: string;
  credentials: Readonly<Record<Caller, string>>;
  /** A server that stands in for Stripe; without it nothing is sold. */
  payments?: { url: string; secretKey: string; webhookSecret: string };
};

export type ServiceName = 'auth' | 'account' | 'gateway';

export type ServicePort =
  'gateway' | 'gatewayPrivate' | 'auth' | 'authPrivate' | 'account' | 'accountPrivate';

export type Caller = ServiceName | 'operator' | 'usage_reporter';

/** Settings are in docs/configuration.md. Each service accepts only the callers that it needs. */
export function serviceSettings(plan: StackPlan): Record<ServiceName, Record<string, string>> {
  const { ports } = plan;
  const authPrivate = { AUTH_PRIVATE_URL: localUrl(ports.authPrivate) };
  const accountPrivate = { ACCOUNT_PRIVATE_URL: localUrl(ports.accountPrivate) };
  return {
    auth: {
      ...common(plan, 'auth', ports.auth, ports.authPrivate, ['gateway', 'account', 'operator']),
      ...accountPrivate,
      CLIENT_SECRET_PEPPERS: plan.peppers,
      // Clients find the metadata at the gateway, the only public listener, so the issuer must be its address.
      ISSUER_URL: localUrl(ports.gateway),
      // Agents that are tried here register themselves.
      REGISTRATION: 'open',
      TRUSTED_PROXIES: LOCAL_PROXIES,
    },
    account: {
      ...common(plan, 'account', ports.account, ports.accountPrivate, ['auth', 'gateway']),
      ...authPrivate,
      OPERATOR_CREDENTIALS: `operator:${plan.credentials.operator}`,
      USAGE_REPORTER_CREDENTIALS: `usage_reporter:${plan.credentials.usage_reporter}`,
      DATABASE_URL: plan.databaseUrl,
      PUBLIC_URL: localUrl(ports.gateway),
      OPERATORS_URL: operatorsUrl(ports.accountPrivate),
      // account's own address serves the interface, too, and has no data endpoint.
      STREAMING_URL: localUrl(ports.gateway),
      AUTH_URL: localUrl(ports.auth),
      ISSUER_URL: localUrl(ports.gateway),
      EXPLORER_SCHEMA_URL: plan.upstreamUrl,
      EXPLORER_EXAMPLES: JSON.stringify(EXPLORER_EXAMPLES),
      MAIL_DIR: plan.mailDirectory,
      ...SAMPLE_PLANS,
      ...paymentSettings(plan.payments),
      ...OPEN_TO_BROWSERS,
      // A receiver under development runs on this machine.
      WEBHOOK_ALLOW_HTTP: 'true',
      WEBHOOK_ALLOW_PRIVATE_ADDRESSES: 'true',
      TRUSTED_PROXIES: LOCAL_PROXIES,
      CLIENT_SECRET_PEPPERS: plan.peppers,
      TOKEN_SEALING_KEYS: plan.sealingKeys,
    },
    gateway: {
      ...common(plan, 'gateway', ports.gateway, ports.gatewayPrivate, ['operator']),
      ...authPrivate,
      ...accountPrivate,
      AUTH_PUBLIC_URL: localUrl(ports.auth),
      ACCOUNT_PUBLIC_URL: localUrl(ports.account),
      STREAMING_URL: localUrl(ports.gateway),
      UPSTREAM_URL: plan.upstreamUrl,
      ...(plan.schemaUrl === undefined ? {} : { GRAPHQL_SCHEMA: plan.schemaUrl }),
      ...OPEN_TO_BROWSERS,
    },
  };
}

function paymentSettings(payments: StackPlan['payments']): Record<string, string> {
  if (payments === undefined) return {};
  return {
    PAYMENTS: 'stripe',
    STRIPE_API_URL: payments.url,
    STRIPE_SECRET_KEY: payments.secretKey,
    STRIPE_WEBHOOK_SECRET: payments.webhookSecret,
  };
}

/** Local applications under development have origins of their own. */
const OPEN_TO_BROWSERS = { CORS_ALLOWED_ORIGINS: '*' };

/** The plans are those of account's seed program. */
export const SAMPLE_PLANS = {
  SIGN_UP_PLAN: 'Trial',
  SIGN_UP_PLAN_DAYS: '14',
  SELF_SERVICE: 'subscribe,change,cancel,slots',
  CONTACT_SALES_URL: 'mailto:sales@example.com',
};

const LOCAL_PROXIES = '127.0.0.0/8 ::1/128';

export function localUrl(port: number): string {
  return `http://127.0.0.1:${String(port)}`;
}

/** Browsers have passkeys for `localhost`, not for an address. */
export function operatorsUrl(accountPrivatePort: number): string {
  return `http://localhost:${String(accountPrivatePort)}/operator`;
}

function common(
  { redisUrl, credentials }: StackPlan,
  name: ServiceName,
  publicPort: number,
  privatePort: number,
  callers: readonly Caller[],
): Record<string, string> {
  return {
    NODE_ENV: 'production',
    PUBLIC_HOST: '127.0.0.1',
    PUBLIC_PORT: String(publicPort),
    PRIVATE_HOST: '127.0.0.1',
    PRIVATE_PORT: String(privatePort),
    SERVICE_CREDENTIALS: callers.map((caller) => `${caller}:${credentials[caller]}`).join(' '),
    SERVICE_CLIENT_ID: name,
    SERVICE_CLIENT_SECRET: credentials[name],
    REDIS_URL: redisUrl,
  };
}
