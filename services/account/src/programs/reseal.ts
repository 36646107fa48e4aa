import { databaseTls } from '@tollgate/config/store-tls';
import { createLogger } from '@tollgate/log';
import { orExit } from '@tollgate/server';
import { PROGRAM_POOLS } from '../platform/database/pools.ts';
import { loadResealConfig } from '../config.ts';
import { openDatabase } from '../platform/database/database.ts';
import { createPostgresServer } from '../platform/database/postgres-server.ts';
import { createQuery, createTransact, reasonOf } from '../platform/database/query.ts';
import { checkSettings } from '../platform/database/session-settings.ts';
import { resealTable } from '../platform/sealing/reseal.ts';
import type { SealedTable } from '../platform/sealing/reseal.ts';
import { SEALED_TOKENS } from '../access/tokens/store.ts';
import { SEALED_TOTP_SECRETS } from '../identity/two-factor/totp/totp-store.ts';
import { SEALED_WEBHOOK_SECRETS } from '../notifications/secrets/secret-store.ts';
import { SEALED_SSO_SECRETS } from '../teams/sso/store.ts';

/**
 * Seals all tokens and secrets under the first of TOKEN_SEALING_KEYS (docs/rotating-secrets.md). Exits with 0 when none is left under another key, else with 1: some were in use, or can't be opened.
 */
const config = orExit(loadResealConfig);
const logger = createLogger('account-reseal', config.LOG_LEVEL);
const database = openDatabase({
  server: createPostgresServer({ url: config.DATABASE_URL, tls: databaseTls(config) }),
  ...PROGRAM_POOLS.reseal,
  logger,
});
try {
  await checkSettings(createQuery(database));
  await reseal(SEALED_TOKENS);
  await reseal(SEALED_WEBHOOK_SECRETS);
  await reseal(SEALED_TOTP_SECRETS);
  await reseal(SEALED_SSO_SECRETS);
} catch (error) {
  logger.fatal({ err: reasonOf(error) }, 'resealing failed; run it again');
  process.exitCode = 1;
} finally {
  await database.destroy();
}

async function reseal<Owner>(sealed: SealedTable<Owner>): Promise<void> {
  const { table } = sealed;
  const counts = await resealTable(
    createTransact(database),
    config.TOKEN_SEALING_KEYS,
    sealed,
    (id, err: unknown) => {
      logger.error({ err, table, id }, 'cannot open a sealed secret');
    },
  );
  logger.info(
    { table, ...counts },
    counts.remaining === 0
      ? 'everything is sealed under the first key'
      : 'some rows are not resealed; run it again',
  );
  if (counts.remaining > 0) process.exitCode = 1;
}
