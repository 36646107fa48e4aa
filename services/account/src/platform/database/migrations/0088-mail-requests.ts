import type { Knex } from 'knex';

/** Where the request for a mail came from, for the audit log of the account that it turns out to be for. */
export async function up(knex: Knex): Promise<void> {
  await knex.schema.raw(`
    -- Null unless the mail's renderer records the request, and in rows of the version before.
    ALTER TABLE mail_outbox ADD COLUMN request_address text, ADD COLUMN request_id text;
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.schema.raw('ALTER TABLE mail_outbox DROP COLUMN request_address, DROP COLUMN request_id');
}
