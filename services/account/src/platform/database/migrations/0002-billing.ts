import type { Knex } from 'knex';

/** Products, plans and billing periods. */
export async function up(knex: Knex): Promise<void> {
  await knex.schema.raw(`
    CREATE EXTENSION IF NOT EXISTS btree_gist;

    -- A plan's raw attributes. Any keys may stand in it; one that is a limit is a whole number of at least
    -- zero and below 2^53, or null, which means the same as its absence.
    -- (The backslashes keep knex from taking jsonpath's question marks for bindings.)
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
      created_at timestamptz NOT NULL DEFAULT now()
    );

    -- What a period took from its plan (name, description, grace) is frozen when it starts.
    CREATE TABLE billing_periods (
      period_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      account_id bigint NOT NULL REFERENCES accounts,
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
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.schema.raw(
    'DROP TABLE billing_periods, plans, products; DROP DOMAIN plan_description; DROP EXTENSION btree_gist',
  );
}
