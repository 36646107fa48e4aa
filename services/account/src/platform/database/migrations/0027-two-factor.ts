import type { Knex } from 'knex';

/** Two-factor sign-in (ADR 0054). */
export async function up(knex: Knex): Promise<void> {
  await knex.schema.raw(`
    -- When the session's user last proved to be the owner. Null for sessions that the version before begins.
    ALTER TABLE sessions ADD COLUMN confirmed_at timestamptz;

    CREATE TABLE totp_secrets (
      totp_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      account_id bigint NOT NULL UNIQUE REFERENCES accounts ON DELETE CASCADE,
      -- AES-256-GCM under the named key: ciphertext and tag.
      sealing_key_id text NOT NULL,
      sealed_nonce bytea NOT NULL CHECK (octet_length(sealed_nonce) = 12),
      sealed_secret bytea NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now(),
      -- Null until a code has shown that the owner's app has the secret.
      confirmed_at timestamptz,
      -- The time step of the last accepted code; only later ones are accepted.
      last_step bigint NOT NULL DEFAULT 0
    );
    CREATE INDEX totp_secrets_sealing_key_id_idx ON totp_secrets (sealing_key_id, totp_id);

    CREATE TABLE passkeys (
      passkey_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      account_id bigint NOT NULL REFERENCES accounts ON DELETE CASCADE,
      credential_id text NOT NULL UNIQUE,
      public_key bytea NOT NULL,
      -- 0 for authenticators that don't count.
      sign_count bigint NOT NULL CHECK (sign_count >= 0),
      transports text[] NOT NULL,
      name text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 200),
      created_at timestamptz NOT NULL DEFAULT now(),
      last_used_at timestamptz
    );
    CREATE INDEX passkeys_account_id_idx ON passkeys (account_id, passkey_id);

    CREATE TABLE recovery_codes (
      account_id bigint NOT NULL REFERENCES accounts ON DELETE CASCADE,
      code_hash bytea NOT NULL CHECK (octet_length(code_hash) = 32),
      used_at timestamptz,
      PRIMARY KEY (account_id, code_hash)
    );

    -- Sign-ins whose password was right and whose second step is missing.
    CREATE TABLE pending_sign_ins (
      token_hash bytea PRIMARY KEY CHECK (octet_length(token_hash) = 32),
      account_id bigint NOT NULL REFERENCES accounts ON DELETE CASCADE,
      created_at timestamptz NOT NULL DEFAULT now(),
      expires_at timestamptz NOT NULL
    );
    CREATE INDEX pending_sign_ins_account_id_idx ON pending_sign_ins (account_id, created_at);
    CREATE INDEX pending_sign_ins_expires_at_idx ON pending_sign_ins (expires_at);

    -- What an authenticator must sign; each is accepted once.
    CREATE TABLE passkey_challenges (
      challenge text PRIMARY KEY,
      purpose text NOT NULL CHECK (purpose IN ('register', 'second_step', 'confirm', 'sign_in')),
      -- Null for a sign-in with a passkey alone.
      account_id bigint REFERENCES accounts ON DELETE CASCADE,
      expires_at timestamptz NOT NULL,
      CHECK ((purpose = 'sign_in') = (account_id IS NULL))
    );
    CREATE INDEX passkey_challenges_account_id_idx ON passkey_challenges (account_id);
    CREATE INDEX passkey_challenges_expires_at_idx ON passkey_challenges (expires_at);

  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.schema.raw(`
    DROP TABLE passkey_challenges, pending_sign_ins, recovery_codes, passkeys, totp_secrets;
    ALTER TABLE sessions DROP COLUMN confirmed_at;
  `);
}
