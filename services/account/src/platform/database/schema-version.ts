import semver from 'semver';
import { Refusal } from '@tollgate/server/refusal';
import { VERSION } from '@tollgate/server/version';
import type { Query } from './query.ts';
import { singleRow } from './single-row.ts';

/** The oldest that there can be: of the first release, with its pre-releases. */
const FIRST_VERSION = '0.1.0-0';

/**
 * The oldest version whose schema this one updates. A release raises it if its migrations or its code need what an
 * earlier release did (docs/design/stores.md).
 */
export const OLDEST_UPGRADABLE_VERSION = FIRST_VERSION;

/**
 * The oldest version whose services run on this version's schema. A release that contracts raises it
 * (docs/design/stores.md).
 */
export const OLDEST_SERVED_VERSION = FIRST_VERSION;

export type SchemaVersion = {
  /** The newest version that has completed its migrations; null during the installation. */
  version: string | null;
  oldest_served_version: string;
};

/** Null if `migrate` has never run here. */
export async function readSchemaVersion(query: Query): Promise<SchemaVersion | null> {
  if (!(await hasRecord(query))) return null;
  return singleRow(await query<SchemaVersion>('SELECT version, oldest_served_version FROM schema_version'));
}

/**
 * Checks that this version's migrations may run, and prepares the record. The caller holds the migrations' lock.
 * @throws {Refusal} if a version must be installed first, or if the schema is too new; then nothing has changed.
 */
export async function beginMigration(query: Query): Promise<SchemaVersion> {
  const recorded = await readSchemaVersion(query);
  const schema = recorded ?? { version: null, oldest_served_version: FIRST_VERSION };
  refuseUnupgradable(schema);
  refuseUnserved(schema);
  if (recorded === null) await createRecord(query, schema);
  return schema;
}

/**
 * Records what this version's migrations do to the schema, in the transaction of each. From the first one on, versions
 * that they exclude are refused. The version itself counts once all are complete, and never goes back.
 */
export async function recordMigration(
  query: Query,
  schema: SchemaVersion,
  { complete }: { complete: boolean },
): Promise<void> {
  await query(
    'UPDATE schema_version SET version = :version, oldest_served_version = :oldest_served_version',
    {
      version: complete ? newer(schema.version ?? VERSION, VERSION) : schema.version,
      oldest_served_version: newer(schema.oldest_served_version, OLDEST_SERVED_VERSION),
    },
  );
}

/** @throws {Refusal} if a newer version has changed the schema in a way that this version can't work with. */
export async function checkSchemaServesThisVersion(query: Query): Promise<void> {
  const schema = await readSchemaVersion(query);
  if (schema !== null) refuseUnserved(schema);
}

/** What the schema is to this version; null if no version is recorded. */
export function compareWithThisVersion({
  version,
  oldest_served_version,
}: SchemaVersion): 'same' | 'older' | 'newer' | 'too_new' {
  if (semver.gt(oldest_served_version, VERSION)) return 'too_new';
  const order = version === null ? -1 : semver.compare(version, VERSION);
  return order === 0 ? 'same' : order < 0 ? 'older' : 'newer';
}

function refuseUnupgradable({ version }: SchemaVersion): void {
  if (version === null || semver.gte(version, OLDEST_UPGRADABLE_VERSION)) return;
  throw new Refusal(
    `Tollgate ${VERSION} can't update the database of Tollgate ${version}. Update to ` +
      `${OLDEST_UPGRADABLE_VERSION} first, then to ${VERSION}. Nothing was changed.`,
  );
}

function refuseUnserved({ version, oldest_served_version }: SchemaVersion): void {
  if (semver.gte(VERSION, oldest_served_version)) return;
  const by = version === null ? 'A newer Tollgate' : `Tollgate ${newer(version, oldest_served_version)}`;
  throw new Refusal(
    `${by} has changed the database, and Tollgate ${VERSION} can't work with it any more. Install ` +
      `${oldest_served_version} or newer, or restore a backup from before the update.`,
  );
}

async function createRecord(query: Query, { version, oldest_served_version }: SchemaVersion): Promise<void> {
  await query(
    `CREATE TABLE schema_version (
       only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
       version text,
       oldest_served_version text NOT NULL
     )`,
  );
  await query(
    'INSERT INTO schema_version (version, oldest_served_version) VALUES (:version, :oldest_served_version)',
    { version, oldest_served_version },
  );
}

async function hasRecord(query: Query): Promise<boolean> {
  const sql = "SELECT to_regclass('schema_version') IS NOT NULL AS has_record";
  return singleRow(await query<{ has_record: boolean }>(sql)).has_record;
}

function newer(one: string, other: string): string {
  return semver.gt(one, other) ? one : other;
}
