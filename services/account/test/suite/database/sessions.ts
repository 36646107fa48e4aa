import type { Knex } from 'knex';

/** The sessions of a suite's own database: other suites have theirs on the same server. */
export const sessionsOf = (database: Knex) =>
  database('pg_stat_activity').whereRaw('datname = current_database()');
