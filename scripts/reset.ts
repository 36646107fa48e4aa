import { rmSync } from 'node:fs';
import { removePostgresData } from '@tollgate/stack/postgres';
import { takeLock } from './launcher/lock.ts';
import { addressLines, readSettings } from './launcher/settings.ts';
import { makeStateDirectory, statePaths } from './launcher/state.ts';
import { endLeftovers } from './launcher/supervisor.ts';

/** `npm run reset`: forgets data, secrets and logs of `npm start`. Refuses while it runs. */
async function reset(): Promise<void> {
  const settings = readSettings(process.env);
  const paths = statePaths(settings.directory);
  makeStateDirectory(settings.directory);
  const lock = await takeLock(paths.lock, addressLines(settings), console.log);
  try {
    await endLeftovers(paths.ledger);
    await removePostgresData(paths.postgresData);
    for (const path of [paths.data, paths.logs, paths.mail, paths.demo, paths.secrets]) {
      rmSync(path, { recursive: true, force: true });
    }
  } finally {
    lock.release();
  }
  console.log(`Cleared ${settings.directory}: the next npm start begins with no data.`);
}

try {
  await reset();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
}
