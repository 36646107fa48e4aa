import { TLSSocket } from 'node:tls';
import type { Knex } from 'knex';
import type { Client } from 'pg';
import type { HealthReport } from '@tollgate/contracts/health-report';
import { SEALED_TOKENS } from '../../access/tokens/store.ts';
import { SEALED_TOTP_SECRETS } from '../../identity/two-factor/totp/totp-store.ts';
import { SEALED_WEBHOOK_SECRETS } from '../../notifications/secrets/secret-store.ts';
import { largestPlanLimits } from '../../billing/plans/largest-limits.ts';
import { compareMigrations } from '../../platform/database/migration-list.ts';
import { isReadOnly } from '../../platform/database/postgres-server.ts';
import { createQuery } from '../../platform/database/query.ts';
import type { Query } from '../../platform/database/query.ts';
import { compareWithThisVersion, readSchemaVersion } from '../../platform/database/schema-version.ts';
import { settingFaults } from '../../platform/database/session-settings.ts';
import { backlogOf } from '../../platform/outbox/backlog.ts';
import type { BacklogTable } from '../../platform/outbox/backlog.ts';
import { reportClosing } from './closing-report.ts';
import { singleRow } from '../../platform/database/single-row.ts';
import type { SealingKey } from '../../platform/sealing/sealing.ts';

type PostgresReport = NonNullable<HealthReport['postgres']>;

const OUTBOXES: readonly BacklogTable[] = [
  'client_change_outbox',
  'entitlement_outbox',
  'mail_outbox',
  'usage_refresh_outbox',
  'usage_alert_checks',
];

const SEALED_TABLES = [SEALED_TOKENS.table, SEALED_WEBHOOK_SECRETS.table, SEALED_TOTP_SECRETS.table];

export async function reportPostgres(
  database: Knex,
  { sealingKeys, closingDelaySec }: { sealingKeys: readonly SealingKey[]; closingDelaySec: number },
): Promise<PostgresReport> {
  const query = createQuery(database);
  const { version, now_ms } = singleRow(
    await query<{ version: string; now_ms: number }>(
      `SELECT current_setting('server_version') AS version,
              CAST(extract(epoch FROM clock_timestamp()) * 1000 AS float8) AS now_ms`,
    ),
  );
  const clock_skew_sec = (Date.now() - now_ms) / 1_000;
  const applied = await query<{ name: string }>('SELECT name FROM knex_migrations ORDER BY id');
  const { pending, unknown } = compareMigrations(applied.map(({ name }) => name));
  const schema = await readSchemaVersion(query);
  const outboxes = [];
  for (const table of OUTBOXES) outboxes.push({ table, ...(await backlogOf(query, table)) });
  const sealed_secrets = [];
  for (const table of SEALED_TABLES) sealed_secrets.push(...(await sealedSecrets(query, table, sealingKeys)));
  return {
    version,
    clock_skew_sec,
    certificate_expires_at: await certificateExpiry(database),
    is_read_only: await isReadOnly(query),
    setting_faults: await settingFaults(query),
    schema: schema === null ? null : { ...schema, compared: compareWithThisVersion(schema) },
    pending_migrations: pending,
    unknown_migrations: unknown,
    outboxes,
    sealed_secrets,
    closing: pending.length > 0 ? null : await reportClosing(query, closingDelaySec),
    plan_limits: pending.length > 0 ? null : await largestPlanLimits(query),
  };
}

async function sealedSecrets(
  query: Query,
  table: string,
  keys: readonly SealingKey[],
): Promise<PostgresReport['sealed_secrets']> {
  const rows = await query<{ sealing_key_id: string; secrets: number }>(
    `SELECT sealing_key_id, count(*) AS secrets FROM ${table}
     WHERE sealing_key_id IS NOT NULL GROUP BY sealing_key_id ORDER BY sealing_key_id`,
  );
  return rows.map((row) => {
    const place = keys.findIndex(({ id }) => id === row.sealing_key_id);
    return { table, ...row, key: place === 0 ? 'first' : place > 0 ? 'older' : 'missing' };
  });
}

/** Of the server's certificate on one of the pool's connections. */
async function certificateExpiry(database: Knex): Promise<string | null> {
  const { client } = database as unknown as { client: Knex.Client };
  const connection = (await client.acquireConnection()) as Client & { connection: { stream: unknown } };
  try {
    return expiryOf(connection.connection.stream);
  } finally {
    await client.releaseConnection(connection);
  }
}

export function expiryOf(socket: unknown): string | null {
  if (!(socket instanceof TLSSocket)) return null;
  return new Date(socket.getPeerCertificate().valid_to).toISOString();
}
