import type { Knex } from 'knex';

/** People, and the teams they are in. */
export async function up(knex: Knex): Promise<void> {
  await knex.schema.raw(`
    CREATE TABLE accounts (
      account_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      email text NOT NULL CHECK (char_length(email) BETWEEN 3 AND 254),
      name text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 200),
      password_hash text NOT NULL,
      blocked_at timestamptz,
      created_at timestamptz NOT NULL DEFAULT now()
    );
    CREATE UNIQUE INDEX accounts_email_key ON accounts (lower(email));

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
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.schema.raw('DROP TABLE team_members, teams, accounts');
}
