import type { Knex } from 'knex';

/** When each application was last used. */
export async function up(knex: Knex): Promise<void> {
  await knex.schema.raw(`
    -- A table of its own, so that counting usage never waits for a change of the application. No foreign key: usage
    -- can name an application that never was.
    CREATE TABLE application_uses (
      application_id bigint PRIMARY KEY,
      last_used_at timestamptz NOT NULL
    );
    -- To the hour, as the usage of the past is.
    INSERT INTO application_uses (application_id, last_used_at)
      SELECT application_id, max(used_at) FROM (
        SELECT application_id, max(hour) AS used_at FROM usage_hourly GROUP BY application_id
        UNION ALL
        SELECT application_id, max(last_used_at) FROM access_tokens
        WHERE last_used_at IS NOT NULL GROUP BY application_id
      ) AS used
      WHERE application_id > 0
      GROUP BY application_id;
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.schema.raw('DROP TABLE application_uses');
}
