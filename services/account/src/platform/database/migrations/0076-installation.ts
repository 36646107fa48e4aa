import type { Knex } from 'knex';

/** Who made an object at Stripe, if several installations share an account there (docs/adr/0186-installations-at-stripe.md). */
export async function up(knex: Knex): Promise<void> {
  await knex.schema.raw(/* sql */ `
    -- A database that is restored or copied has it, too: what was made at Stripe since the backup is still its own.
    CREATE TABLE installation (
      is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
      installation_id uuid NOT NULL DEFAULT gen_random_uuid()
    );
    INSERT INTO installation DEFAULT VALUES;
  `);
}
