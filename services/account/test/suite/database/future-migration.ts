import type { NamedMigration } from '../../../src/platform/database/migration-list.ts';

/** Stands in for the next release's migration: it locks the table that everyone counts in, and declares a finding. */
export const FUTURE_MIGRATION: NamedMigration = {
  name: '9999-from-the-future',
  migration: {
    up: async (knex) => {
      await knex.schema.raw(`
        ALTER TABLE usage_totals ADD COLUMN novelties bigint NOT NULL DEFAULT 0,
          ADD CONSTRAINT usage_totals_novelties CHECK (novelties >= 0)`);
    },
    exceptions: {
      'usage_totals_novelties is a rule, or an index, that usage_totals did not have':
        'of a new column, which the version before never writes',
    },
  },
};
