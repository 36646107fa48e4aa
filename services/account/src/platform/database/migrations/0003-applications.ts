import type { Knex } from 'knex';

/** Applications and their client secrets. */
export async function up(knex: Knex): Promise<void> {
  await knex.schema.raw(`
    CREATE TABLE applications (
      application_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      account_id bigint NOT NULL REFERENCES accounts,
      name text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 200),
      type text NOT NULL CHECK (type IN ('automatic', 'manual')),
      -- One minute to a hundred years.
      token_lifespan_sec bigint NOT NULL CHECK (token_lifespan_sec BETWEEN 60 AND 3153600000),
      client_id uuid NOT NULL UNIQUE,
      status text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'revoked', 'deleted')),
      -- Grows with every revocation; a token issued under a smaller epoch is dead.
      revocation_epoch integer NOT NULL DEFAULT 0 CHECK (revocation_epoch >= 0),
      created_at timestamptz NOT NULL DEFAULT now()
    );
    CREATE INDEX applications_account_id_idx ON applications (account_id);

    -- Only the HMAC-SHA-256 of a secret (base64url) and the id of the pepper that made it.
    CREATE TABLE application_secrets (
      secret_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      application_id bigint NOT NULL REFERENCES applications,
      pepper_id text NOT NULL,
      hmac text NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now(),
      -- Null while no rotation has set an end.
      expires_at timestamptz
    );
    CREATE INDEX application_secrets_application_id_idx ON application_secrets (application_id);
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.schema.raw('DROP TABLE application_secrets, applications');
}
