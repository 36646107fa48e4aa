import type { Knex } from 'knex';

/** Teams whose members a directory provisions by SCIM (docs/design/identity.md). */
export async function up(knex: Knex): Promise<void> {
  await knex.schema.raw(/* sql */ `
    -- A row: the team is provisioned by SCIM.
    CREATE TABLE scim_settings (
      team_id bigint PRIMARY KEY REFERENCES teams ON DELETE CASCADE,
      created_at timestamptz NOT NULL DEFAULT now(),
      -- Of people without a group that has a role.
      default_role text NOT NULL DEFAULT 'developer' CHECK (default_role IN ('billing', 'developer', 'viewer')),
      -- Whether a role that was set by hand stays when groups say otherwise.
      keeps_manual_roles boolean NOT NULL DEFAULT false
    );

    CREATE TABLE scim_group_roles (
      team_id bigint NOT NULL REFERENCES scim_settings ON DELETE CASCADE,
      group_name text NOT NULL CHECK (char_length(group_name) BETWEEN 1 AND 200),
      member_role text NOT NULL CHECK (member_role IN ('billing', 'developer', 'viewer'))
    );
    CREATE UNIQUE INDEX scim_group_roles_key ON scim_group_roles (team_id, lower(group_name));

    CREATE TABLE scim_tokens (
      scim_token_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      team_id bigint NOT NULL REFERENCES scim_settings ON DELETE CASCADE,
      token_hash text NOT NULL UNIQUE CHECK (char_length(token_hash) = 43),
      created_at timestamptz NOT NULL DEFAULT now(),
      expires_at timestamptz NOT NULL,
      -- To the minute.
      last_used_at timestamptz,
      last_error_at timestamptz,
      last_error text CHECK (char_length(last_error) <= 500),
      -- The days before its end at which the manager was mailed last.
      warned_days smallint CHECK (warned_days IN (30, 7, 1))
    );
    CREATE INDEX scim_tokens_team_id_idx ON scim_tokens (team_id);
    CREATE INDEX scim_tokens_expires_at_idx ON scim_tokens (expires_at);

    CREATE TABLE scim_users (
      scim_user_id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
      team_id bigint NOT NULL REFERENCES scim_settings ON DELETE CASCADE,
      account_id bigint NOT NULL REFERENCES accounts,
      user_name text NOT NULL CHECK (char_length(user_name) BETWEEN 3 AND 254),
      external_id text CHECK (char_length(external_id) <= 1024),
      -- All other attributes, by name.
      attributes jsonb NOT NULL DEFAULT '{}',
      -- Whether the account was made by this team's directory.
      made_account boolean NOT NULL,
      -- Since when the directory has the person in the team; null while it hasn't.
      provisioned_at timestamptz,
      -- When the membership ended, until the directory removes the person as well.
      left_at timestamptz,
      -- The role that groups gave last; another one was set by hand.
      assigned_role text CHECK (assigned_role IN ('billing', 'developer', 'viewer')),
      version integer NOT NULL DEFAULT 1,
      created_at timestamptz NOT NULL DEFAULT now(),
      updated_at timestamptz NOT NULL DEFAULT now(),
      -- Kept, so that the person's next user finds the account again. IDs aren't used twice.
      deleted_at timestamptz
    );
    CREATE UNIQUE INDEX scim_users_user_name_key ON scim_users (team_id, lower(user_name)) WHERE deleted_at IS NULL;
    CREATE UNIQUE INDEX scim_users_account_key ON scim_users (team_id, account_id) WHERE deleted_at IS NULL;
    CREATE INDEX scim_users_account_id_idx ON scim_users (account_id);

    CREATE TABLE scim_groups (
      scim_group_id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
      team_id bigint NOT NULL REFERENCES scim_settings ON DELETE CASCADE,
      display_name text NOT NULL CHECK (char_length(display_name) BETWEEN 1 AND 1024),
      external_id text CHECK (char_length(external_id) <= 1024),
      version integer NOT NULL DEFAULT 1,
      created_at timestamptz NOT NULL DEFAULT now(),
      updated_at timestamptz NOT NULL DEFAULT now()
    );
    CREATE UNIQUE INDEX scim_groups_name_key ON scim_groups (team_id, lower(display_name));

    CREATE TABLE scim_group_members (
      scim_group_id uuid NOT NULL REFERENCES scim_groups ON DELETE CASCADE,
      scim_user_id uuid NOT NULL REFERENCES scim_users ON DELETE CASCADE,
      PRIMARY KEY (scim_group_id, scim_user_id)
    );
    CREATE INDEX scim_group_members_scim_user_id_idx ON scim_group_members (scim_user_id);

    -- Addresses whose account belongs to someone whom the team hasn't invited: the Team page offers an invitation.
    CREATE TABLE scim_refusals (
      team_id bigint NOT NULL REFERENCES scim_settings ON DELETE CASCADE,
      email text NOT NULL CHECK (char_length(email) BETWEEN 3 AND 254 AND email = lower(email)),
      refused_at timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (team_id, email)
    );
    CREATE INDEX scim_refusals_refused_at_idx ON scim_refusals (refused_at);

    -- What was made in the team ends with the directory's word, and nothing that was made after it.
    CREATE FUNCTION note_end_of_scim_membership() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      UPDATE scim_users SET left_at = now()
      WHERE account_id = OLD.account_id AND team_id = OLD.team_id AND provisioned_at IS NOT NULL;
      RETURN NULL;
    END $$;
    CREATE TRIGGER scim_membership_ended AFTER DELETE ON team_members
      FOR EACH ROW EXECUTE FUNCTION note_end_of_scim_membership();
  `);
}
