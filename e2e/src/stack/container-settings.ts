import { SAMPLE_PLANS } from '@tollgate/stack/service-settings';
import type { SampleSecrets } from '@tollgate/sample/secrets';

export type ServiceName = 'auth' | 'account' | 'gateway';

/** Ports inside the containers, as the Dockerfile sets them. */
export const SERVICE_PORTS: Record<ServiceName, { public: number; private: number }> = {
  gateway: { public: 4000, private: 4100 },
  auth: { public: 4001, private: 4101 },
  account: { public: 4002, private: 4102 },
};

/** Where Postgres answers inside the network of the stack. */
export function databaseUrl({ postgres_password }: SampleSecrets): string {
  return `postgres://tollgate:${postgres_password}@postgres:5432/tollgate`;
}

/** The settings of a service (docs/configuration.md) in a network where each part answers to its name. */
export function containerSettings(name: ServiceName, secrets: SampleSecrets): Record<string, string> {
  const { credentials, peppers, sealing_keys, redis_password } = secrets;
  const accept = (...callers: (keyof SampleSecrets['credentials'])[]) =>
    callers.map((caller) => `${caller}:${credentials[caller]}`).join(' ');
  const common = {
    SERVICE_CLIENT_ID: name,
    SERVICE_CLIENT_SECRET: credentials[name],
    REDIS_URL: `redis://:${redis_password}@redis:6379`,
  };
  switch (name) {
    case 'auth':
      return {
        ...common,
        SERVICE_CREDENTIALS: accept('gateway', 'account', 'operator'),
        CLIENT_SECRET_PEPPERS: peppers,
        ACCOUNT_PRIVATE_URL: 'http://account:4102',
        TRUSTED_PROXIES: '10.0.0.0/8 172.16.0.0/12 192.168.0.0/16',
      };
    case 'account':
      return {
        ...common,
        SERVICE_CREDENTIALS: accept('auth', 'gateway'),
        OPERATOR_CREDENTIALS: accept('operator'),
        USAGE_REPORTER_CREDENTIALS: accept('usage_reporter'),
        CLIENT_SECRET_PEPPERS: peppers,
        TOKEN_SEALING_KEYS: sealing_keys,
        DATABASE_URL: databaseUrl(secrets),
        PUBLIC_URL: 'http://gateway:4000',
        MAIL_DIR: '/mail',
        ...SAMPLE_PLANS,
        CORS_ALLOWED_ORIGINS: '*',
        TRUSTED_PROXIES: '10.0.0.0/8 172.16.0.0/12 192.168.0.0/16',
        AUTH_PRIVATE_URL: 'http://auth:4101',
      };
    case 'gateway':
      return {
        ...common,
        SERVICE_CREDENTIALS: accept('operator'),
        AUTH_PRIVATE_URL: 'http://auth:4101',
        AUTH_PUBLIC_URL: 'http://auth:4001',
        ACCOUNT_PRIVATE_URL: 'http://account:4102',
        ACCOUNT_PUBLIC_URL: 'http://account:4002',
        UPSTREAM_URL: 'http://upstream:4003/graphql',
        CORS_ALLOWED_ORIGINS: '*',
      };
  }
}
