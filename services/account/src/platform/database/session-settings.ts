import { Refusal } from '@tollgate/server/refusal';
import type { Query } from './query.ts';

/**
 * What the code relies on, whatever the server, the database or the role has as its default (docs/design/stores.md).
 */
const SESSION_SETTINGS: Readonly<Record<string, string>> = {
  DateStyle: 'ISO, MDY',
  IntervalStyle: 'postgres',
  TimeZone: 'UTC',
  search_path: 'public',
  client_encoding: 'UTF8',
  bytea_output: 'hex',
  extra_float_digits: '1',
  standard_conforming_strings: 'on',
  transform_null_equals: 'off',
  default_transaction_isolation: 'read committed',
};

/** A database in another encoding refuses, or garbles, names that people type. */
const EXPECTED: Readonly<Record<string, string>> = { ...SESSION_SETTINGS, server_encoding: 'UTF8' };

/** The startup message's `options`. Later ones win, so `given`, those of DATABASE_URL, can't change what is relied on. */
export function sessionOptions(given = ''): string {
  const set = Object.entries(SESSION_SETTINGS).map(
    ([name, value]) => `-c ${name}=${value.replace(/[\\ ]/g, '\\$&')}`,
  );
  return [given, ...set].join(' ').trimStart();
}

export type SettingFault = { name: string; value: string; expected: string };

/** Settings that differ from what was set: a pooler has dropped the options, or the database has another encoding. */
export async function settingFaults(query: Query): Promise<SettingFault[]> {
  const rows = await query<{ name: string; value: string }>(
    'SELECT name, current_setting(name) AS value FROM unnest(CAST(:names AS text[])) AS names (name)',
    { names: Object.keys(EXPECTED) },
  );
  return rows.flatMap(({ name, value }) => {
    const expected = EXPECTED[name] ?? '';
    return value === expected ? [] : [{ name, value, expected }];
  });
}

/** @throws {Refusal} if results would be misread */
export async function checkSettings(query: Query): Promise<void> {
  const faults = await settingFaults(query);
  if (faults.length === 0) return;
  const found = faults.map(({ name, value, expected }) => `${name} is "${value}" instead of "${expected}"`);
  throw new Refusal(
    `Postgres does not have the settings that Tollgate relies on: ${found.join(', ')}. ` +
      'A connection pooler must pass startup options on, and the database must be created with the encoding UTF8.',
  );
}
