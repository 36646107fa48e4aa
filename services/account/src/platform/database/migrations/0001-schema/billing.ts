/**
 * Products, plans, subscriptions and billing periods. Backslashes keep knex from reading jsonpath's question marks as
 * bindings.
 */
export const BILLING = /* sql */ `
  CREATE EXTENSION IF NOT EXISTS btree_gist;

  -- A plan's attributes. Any keys are allowed; one that is a limit is a whole number from 0 to below 2^53, or null,
  -- which means the same as its absence.
  CREATE DOMAIN plan_description AS jsonb
    CONSTRAINT plan_description_is_object CHECK (jsonb_typeof(VALUE) = 'object')
    CONSTRAINT plan_description_limits CHECK (NOT jsonb_path_exists(VALUE, 'strict $.keyvalue()
      \\? (@.key like_regex "^(points|rate|session|subscription|time_sec|traffic_bytes|team_slots)_limit$")
      .value \\? (@.type() != "null")
      \\? (@.type() != "number" || @ < 0 || @ > 9007199254740991 || @.floor() != @)'));

  CREATE TABLE products (
    product_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text NOT NULL UNIQUE CHECK (char_length(name) BETWEEN 1 AND 200),
    created_at timestamptz NOT NULL DEFAULT now()
  );

  CREATE TABLE plans (
    plan_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text NOT NULL UNIQUE CHECK (char_length(name) BETWEEN 1 AND 200),
    product_id bigint REFERENCES products,
    description plan_description NOT NULL,
    grace_sec integer NOT NULL DEFAULT 259200 CHECK (grace_sec >= 0),
    -- An archived plan continues for its subscribers and isn't sold any more.
    archived_at timestamptz,
    -- From here on, what customers see of public plans (docs/design/billing.md). Null for a plan that is not in the
    -- catalogue.
    public_position integer,
    -- An interval without a price text is not offered.
    price_month text,
    price_year text,
    included text[] NOT NULL DEFAULT '{}',
    team_slot_price text,
    -- Null for a plan without additional team slots.
    team_slots_max integer,
    created_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT plans_catalogue_entry CHECK (
      public_position >= 0 AND team_slots_max >= 0
      AND char_length(price_month) BETWEEN 1 AND 200
      AND char_length(price_year) BETWEEN 1 AND 200
      AND char_length(team_slot_price) BETWEEN 1 AND 200
      AND (public_position IS NULL OR price_month IS NOT NULL OR price_year IS NOT NULL)
    )
  );

  CREATE TABLE subscriptions (
    subscription_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    account_id bigint NOT NULL REFERENCES accounts,
    plan_id bigint NOT NULL REFERENCES plans,
    billing_interval text NOT NULL CHECK (billing_interval IN ('month', 'year')),
    -- The day of purchase. Every period is counted from it, never from the period before.
    anchor timestamptz(0) NOT NULL,
    -- An add-on that every period of the subscription gets.
    team_slots_limit integer CHECK (team_slots_limit >= 0),
    -- What the next period is to be, if it differs.
    pending_plan_id bigint REFERENCES plans,
    pending_interval text CHECK (pending_interval IN ('month', 'year')),
    cancel_at_period_end boolean NOT NULL DEFAULT false,
    -- The start of the next period that is not opened yet.
    renews_at timestamptz(0) NOT NULL,
    -- Postponed when a renewal fails, so that it holds up no other.
    next_attempt_at timestamptz NOT NULL DEFAULT now(),
    ended_at timestamptz(0),
    created_at timestamptz NOT NULL DEFAULT now(),
    CHECK ((pending_plan_id IS NULL) = (pending_interval IS NULL))
  );
  CREATE UNIQUE INDEX subscriptions_live_key ON subscriptions (account_id) WHERE ended_at IS NULL;
  CREATE INDEX subscriptions_account_id_idx ON subscriptions (account_id, subscription_id);
  CREATE INDEX subscriptions_plan_id_idx ON subscriptions (plan_id, subscription_id);
  CREATE INDEX subscriptions_renews_at_idx ON subscriptions (renews_at) WHERE ended_at IS NULL;

  -- What a period took from its plan (name, product, description, grace) is fixed when it starts.
  CREATE TABLE billing_periods (
    period_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    account_id bigint NOT NULL REFERENCES accounts,
    -- Null for a period that an operator opened.
    subscription_id bigint REFERENCES subscriptions,
    plan_id bigint NOT NULL REFERENCES plans,
    plan_name text NOT NULL,
    product_id bigint REFERENCES products,
    description plan_description NOT NULL,
    grace_sec integer NOT NULL CHECK (grace_sec >= 0),
    -- An add-on bought for this period; null leaves the description's.
    team_slots_limit integer CHECK (team_slots_limit >= 0),
    started_at timestamptz(0) NOT NULL,
    -- Inclusive: the period's last second.
    ended_at timestamptz(0) NOT NULL,
    blocked_at timestamptz,
    created_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT billing_periods_end_after_start CHECK (ended_at > started_at),
    CONSTRAINT billing_periods_no_overlap
      EXCLUDE USING gist (account_id WITH =, tstzrange(started_at, ended_at, '[]') WITH &&)
  );
  CREATE INDEX billing_periods_account_started_idx ON billing_periods (account_id, started_at);
  CREATE INDEX billing_periods_account_id_idx ON billing_periods (account_id, period_id);
  CREATE INDEX billing_periods_subscription_id_idx ON billing_periods (subscription_id, started_at);
  CREATE INDEX billing_periods_plan_id_idx ON billing_periods (plan_id, started_at);

  -- Accounts that get the plan of SIGN_UP_PLAN, each once (docs/design/billing.md).
  CREATE TABLE sign_up_plans (
    account_id bigint PRIMARY KEY REFERENCES accounts ON DELETE CASCADE,
    created_at timestamptz NOT NULL DEFAULT now(),
    next_attempt_at timestamptz NOT NULL DEFAULT now(),
    -- Null until the plan has started, or the account needed none.
    settled_at timestamptz,
    -- The first period of the plan; null if the account needed none.
    period_id bigint REFERENCES billing_periods ON DELETE SET NULL
  );
  CREATE INDEX sign_up_plans_pending_idx ON sign_up_plans (next_attempt_at) WHERE settled_at IS NULL;
  -- Periods opened ahead are deleted often, which looks for this reference.
  CREATE INDEX sign_up_plans_period_id_idx ON sign_up_plans (period_id);
`;
