import type { Knex } from 'knex';

/** Access tokens that are made by hand, and the hidden applications of temporary tokens (ADR 0017). */
export async function up(knex: Knex): Promise<void> {
  await knex.schema.raw(`
    ALTER TABLE applications DROP CONSTRAINT applications_type_check;
    ALTER TABLE applications ADD CONSTRAINT applications_type_check
      CHECK (type IN ('automatic', 'manual', 'temporary'));
    -- Of any number of first requests for an account's temporary token one makes its application.
    CREATE UNIQUE INDEX applications_temporary_key ON applications (account_id) WHERE type = 'temporary';

    CREATE TABLE access_tokens (
      token_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      application_id bigint NOT NULL REFERENCES applications,
      name text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 200),
      -- SHA-256 in base64url, by which auth knows the token.
      token_hash text NOT NULL UNIQUE CHECK (token_hash ~ '^[A-Za-z0-9_-]{43}$'),
      -- AES-256-GCM under the named key: ciphertext and tag.
      sealing_key_id text NOT NULL,
      sealed_nonce bytea NOT NULL CHECK (octet_length(sealed_nonce) = 12),
      sealed_token bytea NOT NULL,
      -- The application's when the token was made; dead once the application's is greater.
      revocation_epoch integer NOT NULL CHECK (revocation_epoch >= 0),
      issued_at timestamptz NOT NULL,
      expires_at timestamptz NOT NULL CHECK (expires_at > issued_at),
      revoked_at timestamptz,
      -- To about a minute.
      last_used_at timestamptz
    );
    CREATE INDEX access_tokens_application_id_idx ON access_tokens (application_id, token_id);
    CREATE INDEX access_tokens_sealing_key_id_idx ON access_tokens (sealing_key_id, token_id);
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.schema.raw(`
    DROP TABLE access_tokens;
    DELETE FROM revocation_outbox WHERE application_id IN
      (SELECT application_id FROM applications WHERE type = 'temporary');
    DELETE FROM applications WHERE type = 'temporary';
    DROP INDEX applications_temporary_key;
    ALTER TABLE applications DROP CONSTRAINT applications_type_check;
    ALTER TABLE applications ADD CONSTRAINT applications_type_check CHECK (type IN ('automatic', 'manual'));
  `);
}
