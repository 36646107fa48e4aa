import { newSampleSecrets } from '@tollgate/sample/secrets';
import { serviceSettings } from '@tollgate/stack/service-settings';
import type { ServiceName } from '@tollgate/stack/service-settings';
import { createLogger } from '../../packages/log/src/log.ts';
import { createRegistry } from '../../packages/server/src/registry.ts';
import type { ComposeContext, Service } from '../../packages/server/src/run-service.ts';
import { compose as composeAccount } from '../../services/account/src/compose.ts';
import { loadConfig as loadAccountConfig } from '../../services/account/src/config.ts';
import { compose as composeAuth } from '../../services/auth/src/compose.ts';
import { loadConfig as loadAuthConfig } from '../../services/auth/src/config.ts';
import { compose as composeGateway } from '../../services/gateway/src/compose.ts';
import { loadConfig as loadGatewayConfig } from '../../services/gateway/src/config.ts';

export type ServedMetric = { name: string; help: string; type: string; labelNames: readonly string[] };

/** Of each service, composed without its peers and stores, and closed again. */
export async function servedMetrics(): Promise<Record<ServiceName, readonly ServedMetric[]>> {
  return {
    gateway: await metricsOf('gateway', loadGatewayConfig, composeGateway),
    auth: await metricsOf('auth', loadAuthConfig, composeAuth),
    account: await metricsOf('account', loadAccountConfig, composeAccount),
  };
}

async function metricsOf<Config>(
  name: ServiceName,
  loadConfig: () => Config,
  compose: (context: ComposeContext<Config>) => Promise<Service>,
): Promise<readonly ServedMetric[]> {
  const registry = createRegistry(name);
  const service = await compose({
    config: underSettings(name, loadConfig),
    logger: createLogger(name, 'silent'),
    registry,
    draining: () => false,
    trusts: () => false,
    addressOf: () => '',
    accessLog: null,
  });
  await service.close();
  // prom-client's types leave out the names of labels.
  return registry.getMetricsAsArray() as unknown as readonly ServedMetric[];
}

/** Where nothing listens. */
const NOWHERE = '127.0.0.1:1';

function underSettings<Config>(name: ServiceName, loadConfig: () => Config): Config {
  const { peppers, sealing_keys, credentials, payments } = newSampleSecrets();
  const settings = serviceSettings({
    ports: { gateway: 1, gatewayPrivate: 1, auth: 1, authPrivate: 1, account: 1, accountPrivate: 1 },
    upstreamUrl: `http://${NOWHERE}/graphql`,
    databaseUrl: `postgres://tollgate@${NOWHERE}/tollgate`,
    redisUrl: `redis://${NOWHERE}`,
    mailDirectory: '.tollgate',
    peppers,
    sealingKeys: sealing_keys,
    credentials,
    payments: {
      url: `http://${NOWHERE}`,
      secretKey: payments.secret_key,
      webhookSecret: payments.webhook_secret,
    },
  });
  const { env } = process;
  process.env = settings[name];
  try {
    return loadConfig();
  } finally {
    process.env = env;
  }
}
