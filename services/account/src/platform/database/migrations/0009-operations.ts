import type { Knex } from 'knex';

const OPERATIONS = /* sql */ `
  -- Usage by operation and UTC day, in the transaction that counts it. Of an account's day, operations beyond a hundred
  -- are one row for each application and API version, whose hash and name are empty. No foreign keys, as in
  -- usage_hourly.
  CREATE TABLE usage_operations (
    payer_id bigint NOT NULL,
    account_id bigint NOT NULL,
    day date NOT NULL,
    application_id bigint NOT NULL,
    api_version text NOT NULL,
    -- SHA-256 in hex of the document without its literals.
    hash text NOT NULL CHECK (hash = '' OR char_length(hash) = 64),
    -- Empty if the document names no operation.
    name text NOT NULL CHECK (char_length(name) <= 100),
    points bigint NOT NULL CHECK (points >= 0),
    requests bigint NOT NULL CHECK (requests >= 0),
    errors bigint NOT NULL CHECK (errors >= 0),
    -- How many requests took how long, by bucket.
    durations bigint[] NOT NULL,
    PRIMARY KEY (payer_id, account_id, day, application_id, api_version, hash, name)
  ) WITH (fillfactor = 80);
  CREATE INDEX usage_operations_account_id_day_idx ON usage_operations (account_id, day);
  CREATE INDEX usage_operations_day_idx ON usage_operations (day);
  CREATE INDEX usage_operations_hash_idx ON usage_operations (hash);

  -- Documents without their literals, for as long as there is usage of them.
  CREATE TABLE operation_documents (
    hash text PRIMARY KEY CHECK (char_length(hash) = 64),
    document text NOT NULL CHECK (char_length(document) BETWEEN 1 AND 16384),
    added_at timestamptz NOT NULL DEFAULT now()
  );

  CREATE FUNCTION add_durations(one bigint[], other bigint[]) RETURNS bigint[] LANGUAGE sql IMMUTABLE STRICT AS $$
    SELECT array_agg(coalesce(a, 0) + coalesce(b, 0) ORDER BY bucket)
    FROM unnest(one, other) WITH ORDINALITY AS both_counts (a, b, bucket)
  $$;
  CREATE AGGREGATE sum_durations (bigint[]) (SFUNC = add_durations, STYPE = bigint[]);
`;

/** Usage by operation (docs/design/counting.md). */
export async function up(knex: Knex): Promise<void> {
  await knex.schema.raw(OPERATIONS);
}
