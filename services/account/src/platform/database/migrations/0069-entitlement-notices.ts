import type { Knex } from 'knex';

/**
 * A transaction that commits a notice holds a lock of the whole database until its write is on disk, so that no others
 * share that write. Transactions of which many follow each other leave the notice to who runs them.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.schema.raw(/* sql */ `
    CREATE OR REPLACE FUNCTION entitlements_changed(account_ids bigint[]) RETURNS void LANGUAGE plpgsql AS $$
      BEGIN
        INSERT INTO entitlement_outbox (account_id)
          SELECT DISTINCT changed FROM unnest(account_ids) AS changed WHERE changed IS NOT NULL;
        IF FOUND AND coalesce(current_setting('tollgate.entitlement_notice', true), '') <> 'later' THEN
          NOTIFY entitlement_outbox;
        END IF;
      END
    $$;
  `);
}
