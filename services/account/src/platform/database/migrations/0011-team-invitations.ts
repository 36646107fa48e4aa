import type { Knex } from 'knex';

/** Invitations into teams, and their mails (ADR 0026). */
export async function up(knex: Knex): Promise<void> {
  await knex.schema.raw(`
    -- Only what may still be accepted: accepted, declined and withdrawn ones go, and the audit log keeps them.
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

    -- What the links in its mails are good for, as long as it is there itself.
    CREATE TABLE team_invitation_tokens (
      token_hash bytea PRIMARY KEY CHECK (octet_length(token_hash) = 32),
      invitation_id bigint NOT NULL REFERENCES team_invitations ON DELETE CASCADE
    );
    CREATE INDEX team_invitation_tokens_invitation_id_idx ON team_invitation_tokens (invitation_id);

    ALTER TABLE mail_outbox ADD COLUMN invitation_id bigint REFERENCES team_invitations ON DELETE CASCADE;
    CREATE INDEX mail_outbox_invitation_id_idx ON mail_outbox (invitation_id);
    ALTER TABLE mail_outbox DROP CONSTRAINT mail_outbox_kind_check;
    ALTER TABLE mail_outbox ADD CONSTRAINT mail_outbox_kind_check CHECK (kind IN ('sign_up', 'sign_up_again',
      'password_reset', 'email_change', 'password_changed', 'email_changed', 'team_invitation', 'team_handed_over'));
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.schema.raw(`
    DELETE FROM mail_outbox WHERE kind IN ('team_invitation', 'team_handed_over');
    ALTER TABLE mail_outbox DROP CONSTRAINT mail_outbox_kind_check;
    ALTER TABLE mail_outbox ADD CONSTRAINT mail_outbox_kind_check CHECK (kind IN ('sign_up', 'sign_up_again',
      'password_reset', 'email_change', 'password_changed', 'email_changed'));
    ALTER TABLE mail_outbox DROP COLUMN invitation_id;
    DROP TABLE team_invitation_tokens, team_invitations;
  `);
}
