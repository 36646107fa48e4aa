import type { Knex } from 'knex';

/** Mails to customers that are no longer in the outbox (docs/design/deliveries.md). */
export async function up(knex: Knex): Promise<void> {
  await knex.schema.raw(/* sql */ `
    -- Written by the statement that takes the mail from the outbox. Housekeeping deletes rows after 30 days.
    CREATE TABLE sent_mails (
      -- Of mail_outbox.
      mail_id bigint PRIMARY KEY,
      -- Whose address the mail went to, or whom it was about.
      account_id bigint NOT NULL REFERENCES accounts,
      -- From here to webhook_id: as in mail_outbox, so that the same mail can be made again. No references: what was
      -- deleted since isn't sent again.
      kind text NOT NULL,
      recipient text NOT NULL,
      name text,
      invitation_id bigint,
      alert_id bigint,
      credit_id bigint,
      budget_alert_id bigint,
      webhook_id bigint,
      -- outdated: no longer needed when its turn came.
      outcome text NOT NULL CHECK (outcome IN ('sent', 'given_up', 'outdated')),
      requested_at timestamptz NOT NULL,
      ended_at timestamptz NOT NULL DEFAULT now()
    );
    CREATE INDEX sent_mails_account_id_idx ON sent_mails (account_id, mail_id);
    CREATE INDEX sent_mails_ended_at_idx ON sent_mails (ended_at);
  `);
}
