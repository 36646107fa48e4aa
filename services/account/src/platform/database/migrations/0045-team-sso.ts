import type { Knex } from 'knex';

/** Teams' identity providers, and whom they have signed in (docs/design/identity.md). */
export async function up(knex: Knex): Promise<void> {
  await knex.schema.raw(/* sql */ `
    CREATE TABLE team_sso_providers (
      provider_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      team_id bigint NOT NULL UNIQUE REFERENCES teams ON DELETE CASCADE,
      issuer text NOT NULL CHECK (char_length(issuer) BETWEEN 1 AND 1024),
      client_id text NOT NULL CHECK (char_length(client_id) BETWEEN 1 AND 500),
      sealing_key_id text NOT NULL,
      sealed_nonce bytea NOT NULL,
      sealed_secret bytea NOT NULL,
      -- Raised by each change, so that no sign-in begins with one provider and ends with another.
      version integer NOT NULL DEFAULT 1,
      created_at timestamptz NOT NULL DEFAULT now(),
      changed_at timestamptz NOT NULL DEFAULT now(),
      -- Since when members sign in only by it; null: they need not.
      required_at timestamptz,
      last_signed_in_at timestamptz,
      last_failed_at timestamptz,
      last_failure text CHECK (char_length(last_failure) <= 300)
    );

    -- Who someone is, say issuer and subject, and only for the team whose provider it is. Gone with the membership.
    CREATE TABLE team_sso_identities (
      identity_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      team_id bigint NOT NULL REFERENCES teams ON DELETE CASCADE,
      issuer text NOT NULL CHECK (char_length(issuer) BETWEEN 1 AND 1024),
      subject text NOT NULL CHECK (char_length(subject) BETWEEN 1 AND 255),
      client_id text NOT NULL,
      account_id bigint NOT NULL REFERENCES team_members ON DELETE CASCADE,
      -- Whether the account was made by this sign-in, and so has never had another way in.
      made_account boolean NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now(),
      UNIQUE (team_id, issuer, subject)
    );
    CREATE INDEX team_sso_identities_account_id_idx ON team_sso_identities (account_id);

    -- Sign-ins that a browser has begun. Each is used once.
    CREATE TABLE team_sso_sign_ins (
      browser_hash bytea PRIMARY KEY CHECK (octet_length(browser_hash) = 32),
      provider_id bigint NOT NULL REFERENCES team_sso_providers ON DELETE CASCADE,
      version integer NOT NULL,
      -- The manager's, which signs in no one.
      is_test boolean NOT NULL,
      state text NOT NULL,
      nonce text NOT NULL,
      code_verifier text NOT NULL,
      expires_at timestamptz NOT NULL
    );
    CREATE INDEX team_sso_sign_ins_expires_at_idx ON team_sso_sign_ins (expires_at);
    CREATE INDEX team_sso_sign_ins_provider_id_idx ON team_sso_sign_ins (provider_id);

    -- Null for a session that didn't begin by single sign-on. The others end with the membership.
    ALTER TABLE sessions ADD COLUMN sso_identity_id bigint REFERENCES team_sso_identities ON DELETE CASCADE;
    CREATE INDEX sessions_sso_identity_id_idx ON sessions (sso_identity_id) WHERE sso_identity_id IS NOT NULL;
  `);
}

export const exceptions = {
  'sessions_sso_identity_id_idx is a rule, or an index, that sessions did not have':
    'The index is not unique, so it refuses no row.',
  'sessions_sso_identity_id_fkey is a rule, or an index, that sessions did not have':
    'The version before writes no such column.',
};
