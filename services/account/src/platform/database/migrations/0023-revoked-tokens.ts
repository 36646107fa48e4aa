import type { Knex } from 'knex';

/** Issued tokens that were revoked one by one (ADR 0013). */
export async function up(knex: Knex): Promise<void> {
  await knex.schema.raw(`
    -- A row outlasts its token: a Redis that has lost writes may hold the token again until it expires.
    CREATE TABLE revoked_tokens (
      application_id bigint NOT NULL REFERENCES applications,
      -- SHA-256 in base64url, ordered by its bytes: by it auth reads on.
      token_hash text COLLATE "C" NOT NULL CHECK (token_hash ~ '^[A-Za-z0-9_-]{43}$'),
      revoked_at timestamptz NOT NULL DEFAULT now(),
      -- When the token expires, at the latest.
      expires_at timestamptz NOT NULL,
      PRIMARY KEY (application_id, token_hash)
    );
    CREATE INDEX revoked_tokens_expires_at_idx ON revoked_tokens (expires_at);
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.schema.raw('DROP TABLE revoked_tokens');
}
