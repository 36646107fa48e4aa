import type { Knex } from 'knex';

/** Late usage is charged within the cap that was agreed to (docs/design/payments.md). */
export async function up(knex: Knex): Promise<void> {
  await knex.schema.raw(/* sql */ `
    -- How many further points the period may use by what was agreed to last. Null if only the version before has settled
    -- it: usage that is counted late is not charged then.
    ALTER TABLE period_overages ADD COLUMN cap_points bigint CHECK (cap_points BETWEEN 0 AND 9007199254740991);
    -- After the version before has stopped, which would take them and not write the column.
    INSERT INTO overage_checks (account_id, next_attempt_at)
      SELECT account_id, clock_timestamp() + interval '1 hour' FROM overage_settings WHERE cap_points > 0;
  `);
}

export const exceptions = {
  'period_overages_cap_points_check is a rule, or an index, that period_overages did not have':
    'the version before never writes the column',
};
