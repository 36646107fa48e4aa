import type { Knex } from 'knex';

/** Sign-up, sign-in and mail. */
export async function up(knex: Knex): Promise<void> {
  await knex.schema.raw(`
    -- Null where nobody has shown yet that mail to the address reaches the account's owner: no sign-in.
    ALTER TABLE accounts ADD COLUMN email_verified_at timestamptz;

    CREATE TABLE sessions (
      session_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      account_id bigint NOT NULL REFERENCES accounts,
      -- SHA-256 of what the cookie holds.
      token_hash bytea NOT NULL UNIQUE CHECK (octet_length(token_hash) = 32),
      created_at timestamptz NOT NULL DEFAULT now(),
      last_seen_at timestamptz NOT NULL DEFAULT now(),
      expires_at timestamptz NOT NULL,
      address text NOT NULL,
      user_agent text NOT NULL CHECK (char_length(user_agent) <= 200)
    );
    CREATE INDEX sessions_account_id_idx ON sessions (account_id);
    CREATE INDEX sessions_expires_at_idx ON sessions (expires_at);
    CREATE INDEX sessions_last_seen_at_idx ON sessions (last_seen_at);

    -- What the links in mails are good for. A sign-up becomes an account when its link is used.
    CREATE TABLE email_tokens (
      token_hash bytea PRIMARY KEY CHECK (octet_length(token_hash) = 32),
      purpose text NOT NULL CHECK (purpose IN ('sign_up', 'change_email', 'reset_password')),
      -- Where the link was sent, which using it proves.
      email text NOT NULL CHECK (char_length(email) BETWEEN 3 AND 254),
      account_id bigint REFERENCES accounts,
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

    -- Mails to be sent. No token is in here: the worker makes it when it sends.
    CREATE TABLE mail_outbox (
      mail_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      kind text NOT NULL CHECK (kind IN ('sign_up', 'sign_up_again', 'password_reset', 'email_change',
        'password_changed', 'email_changed')),
      recipient text NOT NULL CHECK (char_length(recipient) BETWEEN 3 AND 254),
      account_id bigint REFERENCES accounts,
      name text,
      password_hash text,
      created_at timestamptz NOT NULL DEFAULT now(),
      attempts integer NOT NULL DEFAULT 0 CHECK (attempts >= 0),
      -- Whoever sends a mail moves this on first: a lease that ends by itself if they die.
      next_attempt_at timestamptz NOT NULL DEFAULT now()
    );
    CREATE INDEX mail_outbox_next_attempt_at_idx ON mail_outbox (next_attempt_at);

    -- Attempts to sign in or to have a mail sent; of whom or what is only there as a hash.
    CREATE TABLE attempt_counts (
      subject text PRIMARY KEY,
      attempts integer NOT NULL,
      window_ends_at timestamptz NOT NULL
    );
    CREATE INDEX attempt_counts_window_ends_at_idx ON attempt_counts (window_ends_at);
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.schema.raw(`
    DROP TABLE attempt_counts, mail_outbox, email_tokens, sessions;
    ALTER TABLE accounts DROP COLUMN email_verified_at;
  `);
}
