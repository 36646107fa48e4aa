/**
 * Sessions, two-factor sign-in (docs/design/identity.md), and links that are sent by mail. Tokens are stored as their
 * SHA-256 only.
 */
export const SIGN_IN = /* sql */ `
  CREATE TABLE sessions (
    session_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    account_id bigint NOT NULL REFERENCES accounts,
    token_hash bytea NOT NULL UNIQUE CHECK (octet_length(token_hash) = 32),
    created_at timestamptz NOT NULL DEFAULT now(),
    last_seen_at timestamptz NOT NULL DEFAULT now(),
    expires_at timestamptz NOT NULL,
    -- When the session's user last proved to be the owner, at first by signing in.
    confirmed_at timestamptz NOT NULL DEFAULT now(),
    address text NOT NULL,
    user_agent text NOT NULL CHECK (char_length(user_agent) <= 200)
  );
  CREATE INDEX sessions_account_id_idx ON sessions (account_id);
  CREATE INDEX sessions_expires_at_idx ON sessions (expires_at);
  CREATE INDEX sessions_last_seen_at_idx ON sessions (last_seen_at);

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

  CREATE TABLE recovery_codes (
    account_id bigint NOT NULL REFERENCES accounts ON DELETE CASCADE,
    code_hash bytea NOT NULL CHECK (octet_length(code_hash) = 32),
    used_at timestamptz,
    PRIMARY KEY (account_id, code_hash)
  );

  -- Sign-ins with the right password that still lack the second step.
  CREATE TABLE pending_sign_ins (
    token_hash bytea PRIMARY KEY CHECK (octet_length(token_hash) = 32),
    account_id bigint NOT NULL REFERENCES accounts ON DELETE CASCADE,
    created_at timestamptz NOT NULL DEFAULT now(),
    expires_at timestamptz NOT NULL
  );
  CREATE INDEX pending_sign_ins_account_id_idx ON pending_sign_ins (account_id, created_at);
  CREATE INDEX pending_sign_ins_expires_at_idx ON pending_sign_ins (expires_at);

  -- What the links in mails are good for. A sign-up becomes an account when its link is used.
  CREATE TABLE email_tokens (
    token_hash bytea PRIMARY KEY CHECK (octet_length(token_hash) = 32),
    purpose text NOT NULL CHECK (purpose IN ('sign_up', 'change_email', 'reset_password')),
    -- Where the link was sent, which using it proves.
    email text NOT NULL CHECK (char_length(email) BETWEEN 3 AND 254),
    account_id bigint REFERENCES accounts,
    -- The future account's.
    name text,
    password_hash text,
    created_at timestamptz NOT NULL DEFAULT now(),
    expires_at timestamptz NOT NULL,
    CHECK ((purpose = 'sign_up') = (account_id IS NULL)),
    CHECK ((purpose = 'sign_up') = (name IS NOT NULL)),
    CHECK ((purpose = 'sign_up') = (password_hash IS NOT NULL))
  );
  CREATE INDEX email_tokens_email_idx ON email_tokens (lower(email));
  CREATE INDEX email_tokens_account_id_idx ON email_tokens (account_id);
  CREATE INDEX email_tokens_expires_at_idx ON email_tokens (expires_at);

  -- Attempts to sign in or to have a mail sent. The subject is a hash, so that no address stays here.
  CREATE TABLE attempt_counts (
    subject text PRIMARY KEY,
    attempts integer NOT NULL,
    window_ends_at timestamptz NOT NULL
  );
  CREATE INDEX attempt_counts_window_ends_at_idx ON attempt_counts (window_ends_at);
`;
