import type { Knex } from 'knex';

/** Money that went back, and what an operator must look at (docs/design/payments.md). */
export async function up(knex: Knex): Promise<void> {
  await knex.schema.raw(/* sql */ `
    -- A purchase whose payment was refunded or disputed. Amounts are in Stripe's minor unit, as Stripe states them now.
    CREATE TABLE purchase_reversals (
      purchase_id bigint PRIMARY KEY REFERENCES purchases,
      account_id bigint NOT NULL REFERENCES accounts,
      paid_amount bigint NOT NULL CHECK (paid_amount > 0),
      refunded_amount bigint NOT NULL CHECK (refunded_amount BETWEEN 0 AND paid_amount),
      -- Of what is refunded, so far as the bank hasn't taken it.
      pending_amount bigint NOT NULL CHECK (pending_amount BETWEEN 0 AND refunded_amount),
      -- Of disputes that were lost.
      lost_amount bigint NOT NULL CHECK (lost_amount >= 0),
      is_disputed boolean NOT NULL,
      -- How many of the points the account shall not have, and how many of them could come back.
      target_points bigint NOT NULL CHECK (target_points >= 0),
      frozen_points bigint NOT NULL CHECK (frozen_points BETWEEN 0 AND target_points),
      taken_points bigint NOT NULL DEFAULT 0 CHECK (taken_points >= 0),
      -- What couldn't be taken, since it was used or had expired.
      shortfall_points bigint NOT NULL DEFAULT 0 CHECK (shortfall_points >= 0),
      -- The source of a grant that gives points back: a refund that failed is compensated.
      returns_as text NOT NULL DEFAULT 'purchase' CHECK (returns_as IN ('purchase', 'compensation')),
      -- Counts what was read at Stripe and stored: a reading that began before the last one is not applied.
      version integer NOT NULL DEFAULT 1,
      -- Null once the points are as they shall be.
      next_step_at timestamptz,
      created_at timestamptz NOT NULL DEFAULT now(),
      updated_at timestamptz NOT NULL DEFAULT now()
    );
    CREATE INDEX purchase_reversals_account_id_idx ON purchase_reversals (account_id);
    CREATE INDEX purchase_reversals_next_step_at_idx ON purchase_reversals (next_step_at)
      WHERE next_step_at IS NOT NULL;

    CREATE TABLE payment_issues (
      issue_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      kind text NOT NULL CHECK (char_length(kind) BETWEEN 1 AND 100),
      -- At Stripe.
      object_id text NOT NULL CHECK (char_length(object_id) BETWEEN 1 AND 255),
      account_id bigint REFERENCES accounts,
      details jsonb NOT NULL DEFAULT '{}',
      created_at timestamptz NOT NULL DEFAULT now(),
      resolved_at timestamptz,
      CONSTRAINT payment_issues_key UNIQUE (kind, object_id)
    );
    CREATE INDEX payment_issues_open_idx ON payment_issues (issue_id) WHERE resolved_at IS NULL;
    CREATE INDEX payment_issues_account_id_idx ON payment_issues (account_id) WHERE account_id IS NOT NULL;

    -- One row a run; the newest that isn't a dry run says since when the next one asks.
    CREATE TABLE payment_reconciliations (
      reconciliation_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      since timestamptz NOT NULL,
      started_at timestamptz NOT NULL,
      finished_at timestamptz NOT NULL DEFAULT now(),
      checked integer NOT NULL CHECK (checked >= 0),
      differences integer NOT NULL CHECK (differences >= 0)
    );
  `);
}
