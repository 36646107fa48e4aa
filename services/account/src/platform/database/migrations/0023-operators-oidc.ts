import type { Knex } from 'knex';

/** Operators whom an identity provider signs in (docs/design/identity.md). */
export async function up(knex: Knex): Promise<void> {
  await knex.schema.raw(/* sql */ `
    -- Who someone is, say issuer and subject; addresses change hands.
    CREATE TABLE operator_identities (
      issuer text NOT NULL CHECK (char_length(issuer) BETWEEN 1 AND 1024),
      subject text NOT NULL CHECK (char_length(subject) BETWEEN 1 AND 255),
      operator_id bigint NOT NULL REFERENCES operators ON DELETE CASCADE,
      PRIMARY KEY (issuer, subject)
    );
    CREATE INDEX operator_identities_operator_id_idx ON operator_identities (operator_id);

    -- Sign-ins that a browser has begun. Each is used once.
    CREATE TABLE operator_oidc_sign_ins (
      browser_hash bytea PRIMARY KEY CHECK (octet_length(browser_hash) = 32),
      issuer text NOT NULL,
      state text NOT NULL,
      nonce text NOT NULL,
      code_verifier text NOT NULL,
      expires_at timestamptz NOT NULL
    );
    CREATE INDEX operator_oidc_sign_ins_expires_at_idx ON operator_oidc_sign_ins (expires_at);

    -- Those that were accepted; none is accepted twice.
    CREATE TABLE operator_logout_tokens (
      token_hash bytea PRIMARY KEY CHECK (octet_length(token_hash) = 32),
      expires_at timestamptz NOT NULL
    );
    CREATE INDEX operator_logout_tokens_expires_at_idx ON operator_logout_tokens (expires_at);

    -- Null for passkeys. The role is the session's (0018).
    ALTER TABLE operator_sessions ADD COLUMN issuer text;
    ALTER TABLE operator_sessions ADD COLUMN subject text;
    ALTER TABLE operator_sessions ADD COLUMN provider_session text CHECK (char_length(provider_session) <= 1024);
    ALTER TABLE operator_sessions ADD COLUMN id_token text CHECK (char_length(id_token) <= 8192);
    CREATE INDEX operator_sessions_subject_idx ON operator_sessions (issuer, subject) WHERE issuer IS NOT NULL;
  `);
}

const NEW = 'is a rule, or an index, that operator_sessions did not have';

export const exceptions = {
  [`operator_sessions_id_token_check ${NEW}`]: 'The version before writes no such column.',
  [`operator_sessions_provider_session_check ${NEW}`]: 'The version before writes no such column.',
  [`operator_sessions_subject_idx ${NEW}`]: 'The index is not unique, so it refuses no row.',
};
