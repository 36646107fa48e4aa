import { renameSync, writeFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { z } from 'zod';
import { orExit } from '@tollgate/server';
import { databaseTls } from '@tollgate/config/store-tls';
import { createLogger } from '@tollgate/log';
import { PROGRAM_POOLS } from '../platform/database/pools.ts';
import { loadSeedConfig } from '../config.ts';
import { openDatabase } from '../platform/database/database.ts';
import { createPostgresServer } from '../platform/database/postgres-server.ts';
import { createQuery, reasonOf } from '../platform/database/query.ts';
import { checkSettings } from '../platform/database/session-settings.ts';
import { seedDatabase } from './seed/seed-database.ts';
import { seedInputSchema } from './seed/seed-input.ts';
import type { SeedInput, SeedResult } from './seed/seed-input.ts';

/**
 * Creates sample accounts for `npm start` and tests: JSON from SEED_INPUT or stdin (seed-input.ts), ids as JSON on stdout or
 * in SEED_OUTPUT_PATH. Exits with 0, or with 1 and the reason on stderr.
 */
const config = orExit(loadSeedConfig);

async function seed(): Promise<SeedResult> {
  const database = openDatabase({
    server: createPostgresServer({ url: config.DATABASE_URL, tls: databaseTls(config) }),
    ...PROGRAM_POOLS.seed,
    logger: createLogger('account-seed', 'warn', process.stderr),
  });
  try {
    await checkSettings(createQuery(database));
    return await seedDatabase(database, parseInput(config.SEED_INPUT ?? (await text(process.stdin))), {
      peppers: config.CLIENT_SECRET_PEPPERS,
      sealingKeys: config.TOKEN_SEALING_KEYS,
      tokenPrefix: config.TOKEN_PREFIX,
    });
  } finally {
    await database.destroy();
  }
}

function parseInput(json: string): SeedInput {
  const parsed = z
    .string()
    .transform((value, context): unknown => {
      try {
        return JSON.parse(value);
      } catch {
        // The parser's message quotes its input, which holds secrets.
        context.addIssue('not JSON');
        return z.NEVER;
      }
    })
    .pipe(seedInputSchema)
    .safeParse(json);
  if (!parsed.success) throw new Error(`invalid seed input:\n${z.prettifyError(parsed.error)}`);
  return parsed.data;
}

/** A file has either its former content or all of the new. */
function writeResult(result: SeedResult): void {
  const json = `${JSON.stringify(result)}\n`;
  const { SEED_OUTPUT_PATH: file } = config;
  if (file === undefined) {
    process.stdout.write(json);
    return;
  }
  writeFileSync(`${file}.draft`, json, { flush: true });
  renameSync(`${file}.draft`, file);
}

try {
  writeResult(await seed());
} catch (error) {
  const reason = reasonOf(error);
  process.stderr.write(`The seed failed: ${reason instanceof Error ? reason.message : 'unknown'}\n`);
  process.exitCode = 1;
}
