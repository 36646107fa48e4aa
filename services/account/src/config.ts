import { z } from 'zod';
import { readConfig } from '@tollgate/config';
import { connectionUrl, processSettings } from '@tollgate/config/settings';
import { pepperSetting } from '@tollgate/client-secret';

const databaseUrl = connectionUrl('postgres:', 'postgresql:');

const migrateSettings = z.object({
  LOG_LEVEL: processSettings.LOG_LEVEL,
  DATABASE_URL: databaseUrl,
});

const seedSettings = z.object({
  DATABASE_URL: databaseUrl,
  CLIENT_SECRET_PEPPERS: pepperSetting,
});

/** Settings of migrate.ts. */
export function loadMigrateConfig(): z.output<typeof migrateSettings> {
  return readConfig(migrateSettings, process.env);
}

/** Settings of seed.ts. */
export function loadSeedConfig(): z.output<typeof seedSettings> {
  return readConfig(seedSettings, process.env);
}
