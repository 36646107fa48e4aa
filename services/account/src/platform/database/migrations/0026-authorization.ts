import type { Knex } from 'knex';

/** Applications that act for other people, and what people have granted them (docs/design/authorization.md). */
export async function up(knex: Knex): Promise<void> {
  await knex.schema.raw(/* sql */ `
    -- authorization: acts for other people. connection: the hidden application of one person's grant to one of those.
    ALTER TABLE applications DROP CONSTRAINT applications_type_check;
    ALTER TABLE applications ADD CONSTRAINT applications_type_check
      CHECK (type IN ('automatic', 'manual', 'temporary', 'authorization', 'connection')) NOT VALID;
    ALTER TABLE applications ADD COLUMN public_client boolean NOT NULL DEFAULT false;
    ALTER TABLE applications ADD COLUMN redirect_uris text[] NOT NULL DEFAULT '{}';

    -- What an application has asked a browser for, until its user answers. The browser has only the id.
    CREATE TABLE authorization_requests (
      request_hash bytea PRIMARY KEY CHECK (octet_length(request_hash) = 32),
      application_id bigint NOT NULL REFERENCES applications,
      redirect_uri text NOT NULL,
      state text,
      scope text NOT NULL,
      resource text,
      code_challenge text NOT NULL CHECK (code_challenge ~ '^[A-Za-z0-9_-]{43}$'),
      expires_at timestamptz NOT NULL
    );
    CREATE INDEX authorization_requests_expires_at_idx ON authorization_requests (expires_at);

    CREATE TABLE authorization_codes (
      -- SHA-256 in base64url.
      code_hash text PRIMARY KEY CHECK (code_hash ~ '^[A-Za-z0-9_-]{43}$'),
      application_id bigint NOT NULL REFERENCES applications,
      account_id bigint NOT NULL REFERENCES accounts,
      -- Null once that session has ended, and the code with it.
      session_id bigint REFERENCES sessions ON DELETE SET NULL,
      redirect_uri text NOT NULL,
      scope text NOT NULL,
      resource text,
      code_challenge text NOT NULL,
      expires_at timestamptz NOT NULL,
      used_at timestamptz,
      -- What it became.
      connection_id bigint REFERENCES applications
    );
    CREATE INDEX authorization_codes_expires_at_idx ON authorization_codes (expires_at);
    CREATE INDEX authorization_codes_account_id_idx ON authorization_codes (account_id);
    CREATE INDEX authorization_codes_session_id_idx ON authorization_codes (session_id);

    -- One person's grant, and so one family of refresh tokens. It has ended when its hidden application isn't active.
    CREATE TABLE connections (
      application_id bigint PRIMARY KEY REFERENCES applications,
      -- Of the application that acts.
      client_application_id bigint NOT NULL REFERENCES applications,
      -- Of the person for whom.
      account_id bigint NOT NULL REFERENCES accounts,
      scope text NOT NULL,
      resource text,
      -- The host that the code went to; null: an app on the person's own device.
      redirect_host text,
      created_at timestamptz NOT NULL DEFAULT now(),
      -- When the person has to consent again, in any case.
      expires_at timestamptz NOT NULL
    );
    CREATE INDEX connections_account_id_idx ON connections (account_id, application_id);
    CREATE INDEX connections_client_application_id_idx ON connections (client_application_id);

    CREATE TABLE refresh_tokens (
      token_hash text PRIMARY KEY CHECK (token_hash ~ '^[A-Za-z0-9_-]{43}$'),
      application_id bigint NOT NULL REFERENCES applications,
      issued_at timestamptz NOT NULL DEFAULT now(),
      expires_at timestamptz NOT NULL,
      -- Its successor, derived from the token and the nonce.
      rotated_at timestamptz,
      nonce text,
      successor_hash text,
      CHECK ((rotated_at IS NULL) = (nonce IS NULL) AND (rotated_at IS NULL) = (successor_hash IS NULL))
    );
    CREATE INDEX refresh_tokens_application_id_idx ON refresh_tokens (application_id);
    CREATE INDEX refresh_tokens_expires_at_idx ON refresh_tokens (expires_at);
  `);
}

export const exceptions = {
  'applications_type_check is a rule, or an index, that applications did not have':
    'it replaces one that allows fewer types of applications',
};
