import type { Knex } from 'knex';

/** Revocations that account publishes itself (ADR 0013). */
export async function up(knex: Knex): Promise<void> {
  await knex.schema.raw(`
    ALTER TABLE revocation_outbox
      -- What the change has ended; null in rows of the version before: any token of the client.
      ADD COLUMN change text CHECK (change IN ('application', 'token')),
      -- SHA-256 in base64url of the one token.
      ADD COLUMN token_hash text CHECK (token_hash ~ '^[A-Za-z0-9_-]{43}$'),
      -- When it is to be published again while auth hasn't acknowledged it; null in rows of the version before.
      ADD COLUMN publish_after timestamptz;
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.schema.raw(`
    ALTER TABLE revocation_outbox DROP COLUMN change, DROP COLUMN token_hash, DROP COLUMN publish_after`);
}

const NOT_WRITTEN = 'The version before writes none of these columns, and null passes.';

export const exceptions = {
  'revocation_outbox_change_check is a rule, or an index, that revocation_outbox did not have': NOT_WRITTEN,
  'revocation_outbox_token_hash_check is a rule, or an index, that revocation_outbox did not have':
    NOT_WRITTEN,
};
