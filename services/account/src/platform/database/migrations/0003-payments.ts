import type { Knex } from 'knex';

/** What is sold, who bought it, and what Stripe told us (docs/design/payments.md). */
export async function up(knex: Knex): Promise<void> {
  await knex.schema.raw(/* sql */ `
    -- Sold as it is or not at all: another price or number of points is another pack.
    CREATE TABLE packs (
      pack_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      name text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 100),
      points bigint NOT NULL CHECK (points BETWEEN 1 AND 9007199254740991),
      currency text NOT NULL CHECK (currency ~ '^[a-z]{3}$'),
      -- In Stripe's minor unit.
      unit_amount bigint NOT NULL CHECK (unit_amount BETWEEN 1 AND 99999999),
      tax_behavior text NOT NULL CHECK (tax_behavior IN ('exclusive', 'inclusive')),
      -- Null for never.
      expires_after_days integer CHECK (expires_after_days BETWEEN 1 AND 36500),
      -- Null until it is first bought.
      stripe_price_id text CHECK (char_length(stripe_price_id) BETWEEN 1 AND 255),
      withdrawn_at timestamptz,
      created_at timestamptz NOT NULL DEFAULT now()
    );

    CREATE TABLE stripe_customers (
      account_id bigint PRIMARY KEY REFERENCES accounts,
      customer_id text NOT NULL UNIQUE CHECK (char_length(customer_id) BETWEEN 1 AND 255),
      created_at timestamptz NOT NULL DEFAULT now()
    );

    -- All that its grant needs is here before Stripe is asked.
    CREATE TABLE purchases (
      purchase_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      -- Of the keys of its requests to Stripe; an id of a restored database may have been used before.
      purchase_key uuid NOT NULL DEFAULT gen_random_uuid() UNIQUE,
      account_id bigint NOT NULL REFERENCES accounts,
      -- No foreign key: a purchase can come back from Stripe's metadata after a restore.
      pack_id bigint NOT NULL,
      pack_name text NOT NULL CHECK (char_length(pack_name) BETWEEN 1 AND 100),
      quantity integer NOT NULL CHECK (quantity BETWEEN 1 AND 1000),
      -- Of all of them.
      points bigint NOT NULL CHECK (points BETWEEN 1 AND 9007199254740991),
      currency text NOT NULL CHECK (currency ~ '^[a-z]{3}$'),
      -- As sold, without tax and discounts.
      amount bigint NOT NULL CHECK (amount BETWEEN 1 AND 99999999),
      expires_after_days integer CHECK (expires_after_days BETWEEN 1 AND 36500),
      state text NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'processing', 'paid', 'expired', 'failed', 'refunded')),
      session_id text UNIQUE CHECK (char_length(session_id) BETWEEN 1 AND 255),
      session_url text CHECK (char_length(session_url) BETWEEN 1 AND 2048),
      -- The PaymentIntent, or the session of what cost nothing. One payment grants once.
      payment_id text UNIQUE CHECK (char_length(payment_id) BETWEEN 1 AND 255),
      credit_id bigint UNIQUE,
      created_at timestamptz NOT NULL DEFAULT now(),
      paid_at timestamptz,
      CONSTRAINT purchases_paid CHECK ((state IN ('paid', 'refunded')) = (paid_at IS NOT NULL)
        AND (paid_at IS NULL) = (payment_id IS NULL))
    );
    CREATE INDEX purchases_account_id_idx ON purchases (account_id, purchase_id);

    CREATE TABLE payment_events (
      payment_event_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      stripe_event_id text NOT NULL UNIQUE CHECK (char_length(stripe_event_id) BETWEEN 1 AND 255),
      type text NOT NULL CHECK (char_length(type) BETWEEN 1 AND 255),
      -- Events of one object are handled one after another.
      object_id text NOT NULL CHECK (char_length(object_id) BETWEEN 1 AND 255),
      -- As received, byte for byte.
      body bytea NOT NULL CHECK (octet_length(body) <= 1048576),
      outcome text CHECK (outcome IN ('applied', 'ignored', 'foreign')),
      attempts integer NOT NULL DEFAULT 0,
      -- Null once it has an outcome.
      next_attempt_at timestamptz DEFAULT now(),
      leased_until timestamptz,
      created_at timestamptz NOT NULL DEFAULT now(),
      handled_at timestamptz,
      CONSTRAINT payment_events_handled CHECK ((outcome IS NULL) = (handled_at IS NULL)
        AND (outcome IS NULL) = (next_attempt_at IS NOT NULL))
    );
    CREATE INDEX payment_events_next_attempt_at_idx ON payment_events (next_attempt_at)
      WHERE next_attempt_at IS NOT NULL;
    CREATE TRIGGER payment_events_announced AFTER INSERT ON payment_events
      FOR EACH ROW EXECUTE FUNCTION announce_due_work();
  `);
}
