import type { Knex } from 'knex';

/** What an operator has asked for and another one must confirm (docs/design/identity.md). */
export async function up(knex: Knex): Promise<void> {
  await knex.schema.raw(/* sql */ `
    -- A row waits: it is deleted when it is confirmed, declined or expired.
    CREATE TABLE pending_acts (
      act_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      operation_id text NOT NULL,
      account_id bigint NOT NULL REFERENCES accounts,
      -- The request, with the names of its fields in order.
      request json NOT NULL,
      request_hash bytea NOT NULL CHECK (octet_length(request_hash) = 32),
      -- Of what it changes, when it was asked for.
      version text NOT NULL,
      requested_by bigint NOT NULL REFERENCES operators ON DELETE CASCADE,
      -- Of the operator, as in the entry of the audit log.
      person json NOT NULL,
      reason text,
      requested_at timestamptz NOT NULL DEFAULT now(),
      expires_at timestamptz NOT NULL,
      -- The same request of the same operator waits once.
      UNIQUE (requested_by, request_hash)
    );
    CREATE INDEX pending_acts_account_id_idx ON pending_acts (account_id);
    CREATE INDEX pending_acts_expires_at_idx ON pending_acts (expires_at);
  `);
}
