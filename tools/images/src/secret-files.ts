import { REDIS_DATA_SETTINGS } from '@tollgate/redis/server-settings';
import type { SampleSecrets } from '@tollgate/sample/secrets';

type Caller = keyof SampleSecrets['credentials'];

/** The files of secrets by the container that reads them, as docker-compose.yml names them in `…_FILE`. */
export function secretFiles(secrets: SampleSecrets): Record<string, Record<string, string>> {
  const { postgres_password, redis_password, peppers, sealing_keys, credentials, manager, member } = secrets;
  const callers = (...ids: Caller[]) => ids.map((id) => `${id}:${credentials[id]}`).join('\n');
  const redis_url = `redis://:${redis_password}@redis:6379`;
  const database_url = `postgres://tollgate:${postgres_password}@postgres:5432/tollgate`;
  return {
    postgres: { password: postgres_password },
    redis: { password: redis_password, 'redis.conf': redisConf(redis_password) },
    auth: {
      service_credentials: callers('gateway', 'account', 'operator'),
      service_client_secret: credentials.auth,
      redis_url,
      client_secret_peppers: peppers,
    },
    account: {
      service_credentials: callers('auth', 'gateway'),
      operator_credentials: callers('operator'),
      usage_reporter_credentials: callers('usage_reporter'),
      service_client_secret: credentials.account,
      redis_url,
      client_secret_peppers: peppers,
      token_sealing_keys: sealing_keys,
      database_url,
    },
    gateway: {
      service_credentials: callers('operator'),
      service_client_secret: credentials.gateway,
      redis_url,
    },
    demo: {
      'seed-input.json': JSON.stringify({ manager, member }),
      operator_secret: credentials.operator,
      usage_reporter_secret: credentials.usage_reporter,
    },
  };
}

function redisConf(password: string): string {
  return [`requirepass ${password}`, 'dir /data', ...REDIS_DATA_SETTINGS, ''].join('\n');
}
