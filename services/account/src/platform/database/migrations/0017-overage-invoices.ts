import type { Knex } from 'knex';

/** On which invoice further points are charged (docs/design/payments.md). */
export async function up(knex: Knex): Promise<void> {
  await knex.schema.raw(/* sql */ `
    -- Null while the item waits for an invoice.
    ALTER TABLE overage_charges ADD COLUMN stripe_invoice_id text CHECK (char_length(stripe_invoice_id) BETWEEN 1 AND 255);
    -- An item that has lost the invoice that it waited for has an attempt again.
    ALTER TABLE overage_charges DROP CONSTRAINT overage_charges_charged;
    ALTER TABLE overage_charges ADD CONSTRAINT overage_charges_attempted
      CHECK (stripe_item_id IS NOT NULL OR next_attempt_at IS NOT NULL);
    CREATE INDEX overage_charges_stripe_invoice_id_idx ON overage_charges (stripe_invoice_id);
    CREATE TRIGGER overage_charges_announced_again AFTER UPDATE ON overage_charges FOR EACH ROW
      WHEN (OLD.next_attempt_at IS NULL AND NEW.next_attempt_at IS NOT NULL) EXECUTE FUNCTION announce_due_work();

    -- No invoice of the subscription follows.
    CREATE FUNCTION subscriptions_ended_overage() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        UPDATE overage_charges SET next_attempt_at = clock_timestamp(), attempts = 0
          WHERE account_id = NEW.account_id AND next_attempt_at IS NULL AND stripe_invoice_id IS NULL;
        RETURN NULL;
      END
    $$;
    CREATE TRIGGER subscriptions_ended_overage AFTER UPDATE ON subscriptions FOR EACH ROW
      WHEN (OLD.ended_at IS NULL AND NEW.ended_at IS NOT NULL) EXECUTE FUNCTION subscriptions_ended_overage();

    -- An invoice for further points that isn't paid stops them, and its payment brings them back.
    CREATE FUNCTION invoices_overage() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        INSERT INTO overage_checks (account_id)
          SELECT DISTINCT account_id FROM overage_charges WHERE stripe_invoice_id = NEW.stripe_invoice_id;
        RETURN NULL;
      END
    $$;
    CREATE TRIGGER invoices_overage AFTER INSERT OR UPDATE ON invoices FOR EACH ROW
      WHEN (NEW.subscription_id IS NULL) EXECUTE FUNCTION invoices_overage();
  `);
}

export const exceptions = {
  'overage_charges_attempted is a rule, or an index, that overage_charges did not have':
    'it allows all that the one it replaces allows',
  'overage_charges_stripe_invoice_id_check is a rule, or an index, that overage_charges did not have':
    'the version before never writes the column',
  'overage_charges_stripe_invoice_id_idx is a rule, or an index, that overage_charges did not have':
    'it is not unique, and refuses nothing',
};
