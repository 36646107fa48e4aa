import type { Logger } from '@tollgate/log';
import type { ExportParts } from '../lifecycle/export/operations.ts';
import { EXPORT_LIMITS, createRunningExports } from '../lifecycle/export/running-exports.ts';
import { openDatabase } from '../platform/database/database.ts';
import type { PostgresServer } from '../platform/database/postgres-server.ts';
import { createSnapshot } from '../platform/database/query.ts';
import { DATABASE_POOLS } from '../platform/database/pools.ts';

export function openExports({ server, logger }: { server: PostgresServer; logger: Logger }): {
  parts: Pick<ExportParts, 'snapshot' | 'runningExports'>;
  close: () => Promise<void>;
} {
  const database = openDatabase({
    server,
    poolMax: EXPORT_LIMITS.total,
    logger,
    ...DATABASE_POOLS.accountExports,
  });
  return {
    parts: { snapshot: createSnapshot(database), runningExports: createRunningExports() },
    close: () => database.destroy(),
  };
}
