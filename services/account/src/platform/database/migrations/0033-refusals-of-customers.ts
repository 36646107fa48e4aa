import type { Knex } from 'knex';

const ALL_ROWS_FIT =
  'Neither refuses a row: they only make reading faster. While they are built, records wait in their stream.';

export const exceptions = Object.fromEntries(
  ['account_code', 'application', 'seen_by_code', 'seen_by'].map((name) => [
    `refused_calls_${name}_idx is a rule, or an index, that refused_calls did not have`,
    ALL_ROWS_FIT,
  ]),
);

/** Refused and failed calls as customers see them: what a call cost, and exact numbers (ADR 0058). */
export async function up(knex: Knex): Promise<void> {
  await knex.schema.raw(`
    ALTER TABLE refused_calls
      ADD COLUMN points bigint,
      ADD COLUMN operation_name text;
    -- Who sees a record: the payer, or without one the account. Pages are read backwards by id.
    CREATE INDEX refused_calls_seen_by_idx ON refused_calls ((coalesce(payer_id, account_id)), refused_call_id);
    CREATE INDEX refused_calls_seen_by_code_idx
      ON refused_calls ((coalesce(payer_id, account_id)), code, refused_call_id);
    CREATE INDEX refused_calls_account_code_idx ON refused_calls (account_id, code, refused_call_id);
    CREATE INDEX refused_calls_application_idx ON refused_calls (application_id, refused_call_id);

    -- No foreign keys, as with refused_calls. Without a payer it is the account; application 0 is none.
    CREATE TABLE refused_call_counts (
      hour timestamptz NOT NULL,
      account_id bigint NOT NULL,
      payer_id bigint NOT NULL,
      application_id bigint NOT NULL,
      code text NOT NULL,
      calls bigint NOT NULL,
      last_at timestamptz NOT NULL,
      PRIMARY KEY (account_id, hour, payer_id, application_id, code)
    );
    CREATE INDEX refused_call_counts_payer_idx ON refused_call_counts (payer_id, hour);
    CREATE INDEX refused_call_counts_hour_idx ON refused_call_counts (hour);

    -- The last batch of each gateway process that was counted: a repeated one is skipped.
    CREATE TABLE refused_call_gateways (
      gateway_id uuid PRIMARY KEY,
      last_seq bigint NOT NULL,
      seen_at timestamptz NOT NULL DEFAULT now()
    );
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.schema.raw(`
    DROP TABLE refused_call_gateways, refused_call_counts;
    DROP INDEX refused_calls_application_idx, refused_calls_account_code_idx, refused_calls_seen_by_code_idx,
      refused_calls_seen_by_idx;
    ALTER TABLE refused_calls DROP COLUMN points, DROP COLUMN operation_name;
  `);
}
