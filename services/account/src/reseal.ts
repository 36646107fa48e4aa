import { createLogger } from '@tollgate/log';
import { orExit } from '@tollgate/server';
import { loadResealConfig } from './config.ts';
import { openDatabase } from './database/database.ts';
import { createTransact } from './database/query.ts';
import { resealTokens } from './tokens/reseal.ts';

/**
 * Seals all tokens under the first of TOKEN_SEALING_KEYS (README.md, "Sealing keys"). Ends with 0 when none is
 * left under another key, else with 1: some were in use, or can't be opened.
 */
const config = orExit(loadResealConfig);
const logger = createLogger('account-reseal', config.LOG_LEVEL);
const database = openDatabase({
  url: config.DATABASE_URL,
  poolMax: 1,
  acquireTimeoutMs: 10_000,
  statementTimeoutMs: 30_000,
  logger,
});
try {
  const counts = await resealTokens(
    createTransact(database),
    config.TOKEN_SEALING_KEYS,
    (token_id, err: unknown) => {
      logger.error({ err, token_id }, 'a token can not be opened');
    },
  );
  logger.info(counts, counts.remaining === 0 ? 'all tokens are under the first key' : 'run it once more');
  if (counts.remaining > 0) process.exitCode = 1;
} catch (error) {
  logger.fatal({ err: error }, 'resealing was cut off; run it once more');
  process.exitCode = 1;
} finally {
  await database.destroy();
}
