import { z } from 'zod';
import { pepperSetting } from '@tollgate/client-secret';
import { readConfig } from '@tollgate/config';
import {
  callerSettings,
  connectionUrl,
  httpUrl,
  processSettings,
  serviceCredentials,
  wholeNumber,
} from '@tollgate/config/settings';
import { introspectionSettings } from '@tollgate/introspection/settings';

const databaseUrl = connectionUrl('postgres:', 'postgresql:');

const serviceSettings = z.object({
  ...processSettings,
  ...callerSettings,
  /** Callers accepted at the operator API; without any, nobody is. */
  OPERATOR_CREDENTIALS: serviceCredentials.default([]),
  DATABASE_URL: databaseUrl,
  DATABASE_POOL_MAX: wholeNumber(1, 1_000).default(10),
  AUTH_PRIVATE_URL: httpUrl,
  CLIENT_SECRET_PEPPERS: pepperSetting,
  ...introspectionSettings(10_000),
});

export type Config = z.output<typeof serviceSettings>;

const migrateSettings = z.object({
  LOG_LEVEL: processSettings.LOG_LEVEL,
  DATABASE_URL: databaseUrl,
});

const seedSettings = z.object({
  DATABASE_URL: databaseUrl,
  CLIENT_SECRET_PEPPERS: pepperSetting,
});

/**
 * The service's settings (docs/configuration.md).
 * @throws {ConfigError} listing every fault
 */
export function loadConfig(): Config {
  return readConfig(serviceSettings, process.env);
}

/** Settings of migrate.ts. */
export function loadMigrateConfig(): z.output<typeof migrateSettings> {
  return readConfig(migrateSettings, process.env);
}

/** Settings of seed.ts. */
export function loadSeedConfig(): z.output<typeof seedSettings> {
  return readConfig(seedSettings, process.env);
}
