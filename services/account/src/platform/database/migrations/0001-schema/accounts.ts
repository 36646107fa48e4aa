/** Accounts, teams and invitations. */
export const ACCOUNTS = /* sql */ `
  CREATE TABLE accounts (
    account_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    email text NOT NULL CHECK (char_length(email) BETWEEN 3 AND 254),
    -- Null until the owner has shown that mail to the address reaches them: no sign-in before.
    email_verified_at timestamptz,
    name text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 200),
    password_hash text NOT NULL,
    blocked_at timestamptz,
    -- Both null unless the owner has requested the deletion (docs/design/identity.md). Cancelling clears them, and so
    -- does the erasure.
    deletion_requested_at timestamptz,
    deletion_due_at timestamptz,
    -- Since when the row holds no personal data.
    erased_at timestamptz,
    created_at timestamptz NOT NULL DEFAULT now()
  );
  CREATE UNIQUE INDEX accounts_email_key ON accounts (lower(email));
  CREATE INDEX accounts_deletion_due_at_idx ON accounts (deletion_due_at) WHERE deletion_due_at IS NOT NULL;

  CREATE TABLE teams (
    team_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 200),
    created_at timestamptz NOT NULL DEFAULT now()
  );

  -- The primary key is the rule: an account manages one team or is a member of one, never both.
  CREATE TABLE team_members (
    account_id bigint PRIMARY KEY REFERENCES accounts,
    team_id bigint NOT NULL REFERENCES teams ON DELETE CASCADE,
    role text NOT NULL CHECK (role IN ('manager', 'member')),
    joined_at timestamptz NOT NULL DEFAULT now()
  );
  CREATE INDEX team_members_team_id_idx ON team_members (team_id);
  CREATE UNIQUE INDEX team_members_manager_key ON team_members (team_id) WHERE role = 'manager';

  -- Only invitations that can still be accepted (docs/design/billing.md): the others are deleted, and the audit log
  -- keeps them.
  CREATE TABLE team_invitations (
    invitation_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    team_id bigint NOT NULL REFERENCES teams ON DELETE CASCADE,
    email text NOT NULL CHECK (char_length(email) BETWEEN 3 AND 254),
    invited_by bigint NOT NULL REFERENCES accounts,
    created_at timestamptz NOT NULL DEFAULT now(),
    expires_at timestamptz NOT NULL
  );
  CREATE UNIQUE INDEX team_invitations_email_key ON team_invitations (team_id, lower(email));
  CREATE INDEX team_invitations_lower_email_idx ON team_invitations (lower(email));
  CREATE INDEX team_invitations_expires_at_idx ON team_invitations (expires_at);

  -- The tokens in the links of an invitation's mails.
  CREATE TABLE team_invitation_tokens (
    token_hash bytea PRIMARY KEY CHECK (octet_length(token_hash) = 32),
    invitation_id bigint NOT NULL REFERENCES team_invitations ON DELETE CASCADE
  );
  CREATE INDEX team_invitation_tokens_invitation_id_idx ON team_invitation_tokens (invitation_id);
`;
