import type { Knex } from 'knex';

/** Who operators are, and their sessions (docs/design/identity.md). */
export async function up(knex: Knex): Promise<void> {
  await knex.schema.raw(/* sql */ `
    CREATE TABLE operators (
      operator_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      name text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 200),
      -- Shown, and written to; never what someone is recognized by.
      email text CHECK (char_length(email) BETWEEN 3 AND 254),
      -- Of those who sign in by a passkey. An identity provider's groups give the role at each sign-in.
      local_role text CHECK (local_role IN ('viewer', 'support', 'finance', 'admin')),
      created_at timestamptz NOT NULL DEFAULT now(),
      CONSTRAINT operators_local_email CHECK (local_role IS NULL OR email IS NOT NULL)
    );
    CREATE UNIQUE INDEX operators_local_email_key ON operators (lower(email)) WHERE local_role IS NOT NULL;

    CREATE TABLE operator_passkeys (
      credential_id text PRIMARY KEY CHECK (char_length(credential_id) BETWEEN 1 AND 1364),
      operator_id bigint NOT NULL REFERENCES operators ON DELETE CASCADE,
      public_key bytea NOT NULL,
      sign_count bigint NOT NULL CHECK (sign_count >= 0),
      created_at timestamptz NOT NULL DEFAULT now(),
      last_used_at timestamptz
    );
    CREATE INDEX operator_passkeys_operator_id_idx ON operator_passkeys (operator_id);

    CREATE TABLE operator_challenges (
      challenge text PRIMARY KEY CHECK (char_length(challenge) = 43),
      -- Null: any operator may answer it.
      operator_id bigint REFERENCES operators ON DELETE CASCADE,
      expires_at timestamptz NOT NULL
    );
    CREATE INDEX operator_challenges_expires_at_idx ON operator_challenges (expires_at);
    CREATE INDEX operator_challenges_operator_id_idx ON operator_challenges (operator_id);

    -- Each works once.
    CREATE TABLE operator_links (
      token_hash bytea PRIMARY KEY CHECK (octet_length(token_hash) = 32),
      purpose text NOT NULL CHECK (purpose IN ('enrolment', 'sign_in')),
      operator_id bigint NOT NULL REFERENCES operators ON DELETE CASCADE,
      expires_at timestamptz NOT NULL
    );
    CREATE INDEX operator_links_operator_id_idx ON operator_links (operator_id);
    CREATE INDEX operator_links_expires_at_idx ON operator_links (expires_at);

    CREATE TABLE operator_sessions (
      session_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      token_hash bytea NOT NULL UNIQUE CHECK (octet_length(token_hash) = 32),
      operator_id bigint NOT NULL REFERENCES operators ON DELETE CASCADE,
      role text NOT NULL CHECK (role IN ('viewer', 'support', 'finance', 'admin')),
      created_at timestamptz NOT NULL DEFAULT now(),
      last_seen_at timestamptz NOT NULL DEFAULT now(),
      expires_at timestamptz NOT NULL,
      address text NOT NULL,
      user_agent text NOT NULL
    );
    CREATE INDEX operator_sessions_operator_id_idx ON operator_sessions (operator_id);
    CREATE INDEX operator_sessions_expires_at_idx ON operator_sessions (expires_at);
  `);
}
