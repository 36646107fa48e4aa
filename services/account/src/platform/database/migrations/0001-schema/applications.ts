/** Applications (OAuth clients), their secrets and manual tokens, and changes that auth and the gateways must learn of. */
export const APPLICATIONS = /* sql */ `
  CREATE TABLE applications (
    application_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    account_id bigint NOT NULL REFERENCES accounts,
    name text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 200),
    -- temporary: the hidden application of an account's temporary token (docs/design/tokens.md).
    type text NOT NULL CHECK (type IN ('automatic', 'manual', 'temporary')),
    -- One minute to a hundred years.
    token_lifespan_sec bigint NOT NULL CHECK (token_lifespan_sec BETWEEN 60 AND 3153600000),
    client_id uuid NOT NULL UNIQUE,
    status text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'revoked', 'deleted')),
    -- Grows with every revocation; a token issued under a smaller epoch is dead.
    revocation_epoch integer NOT NULL DEFAULT 0 CHECK (revocation_epoch >= 0),
    created_at timestamptz NOT NULL DEFAULT now()
  );
  CREATE INDEX applications_account_id_idx ON applications (account_id);
  -- Of any number of first requests for an account's temporary token, one creates its application.
  CREATE UNIQUE INDEX applications_temporary_key ON applications (account_id) WHERE type = 'temporary';

  -- A request that began before the account's deletion must not leave it with working credentials
  -- (docs/design/identity.md).
  CREATE FUNCTION applications_of_open_accounts() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      PERFORM 1 FROM accounts
        WHERE account_id = NEW.account_id AND deletion_due_at IS NULL AND erased_at IS NULL FOR SHARE;
      IF NOT FOUND THEN
        RAISE EXCEPTION 'the account is being deleted'
          USING ERRCODE = 'check_violation', CONSTRAINT = 'account_is_open';
      END IF;
      RETURN NEW;
    END
  $$;
  CREATE TRIGGER applications_added_to_open_accounts BEFORE INSERT ON applications
    FOR EACH ROW WHEN (NEW.status = 'active') EXECUTE FUNCTION applications_of_open_accounts();
  CREATE TRIGGER applications_restored_in_open_accounts BEFORE UPDATE ON applications
    FOR EACH ROW WHEN (NEW.status = 'active' AND OLD.status <> 'active')
    EXECUTE FUNCTION applications_of_open_accounts();

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

  -- Manual tokens (docs/design/tokens.md); auth issues the others, and keeps them in Redis.
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
    -- The application's when the token was created; dead once the application's is greater.
    revocation_epoch integer NOT NULL CHECK (revocation_epoch >= 0),
    issued_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL CHECK (expires_at > issued_at),
    revoked_at timestamptz,
    -- To about a minute.
    last_used_at timestamptz
  );
  CREATE INDEX access_tokens_application_id_idx ON access_tokens (application_id, token_id);
  CREATE INDEX access_tokens_sealing_key_id_idx ON access_tokens (sealing_key_id, token_id);

  -- Issued tokens that were revoked one by one (docs/design/revocation.md). A row outlasts its token: a Redis that has
  -- lost writes may hold the token again until it expires.
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

  -- A row is written in the transaction that changes the application, and deleted when auth has acknowledged it.
  CREATE TABLE client_change_outbox (
    outbox_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    client_id uuid NOT NULL,
    application_id bigint NOT NULL REFERENCES applications,
    revocation_epoch integer NOT NULL CHECK (revocation_epoch >= 0),
    -- token: one token ended. application: any other change; it ends the tokens below the epoch.
    change text NOT NULL CHECK (change IN ('application', 'token')),
    -- SHA-256 in base64url of the one token.
    token_hash text CHECK (token_hash ~ '^[A-Za-z0-9_-]{43}$'),
    created_at timestamptz NOT NULL DEFAULT now(),
    attempts integer NOT NULL DEFAULT 0 CHECK (attempts >= 0),
    -- Postponed before each delivery: a lease, which ends by itself if the process dies.
    next_attempt_at timestamptz NOT NULL,
    -- When it is published again while auth hasn't acknowledged it.
    publish_after timestamptz NOT NULL,
    CHECK ((change = 'token') = (token_hash IS NOT NULL))
  );
  CREATE INDEX client_change_outbox_next_attempt_at_idx ON client_change_outbox (next_attempt_at);
`;
