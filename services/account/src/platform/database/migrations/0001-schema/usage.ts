/** Usage: totals, hourly rows, how far the gateways' streams are counted, and what is wrong with them. */
export const USAGE = /* sql */ `
  -- One row per period, so that reading the usage costs the same however much there is.
  CREATE TABLE usage_totals (
    period_id bigint PRIMARY KEY REFERENCES billing_periods,
    points bigint NOT NULL CHECK (points >= 0),
    requests bigint NOT NULL CHECK (requests >= 0),
    time_ms bigint NOT NULL CHECK (time_ms >= 0),
    traffic_bytes bigint NOT NULL CHECK (traffic_bytes >= 0),
    -- Grows with every change that came by no stream: live counters in Redis tell by it whether they contain the
    -- change (docs/design/counting.md).
    usage_version bigint NOT NULL DEFAULT 0,
    -- 2^53 - 1, MAX_TOTAL of the contract: JSON can't state a larger number exactly.
    CONSTRAINT usage_totals_within CHECK (points <= 9007199254740991 AND requests <= 9007199254740991
      AND time_ms <= 9007199254740991 AND traffic_bytes <= 9007199254740991)
  );

  -- The same usage by hour; a partition per month. The period is part of the key: an account that moves between teams
  -- within an hour has usage of two periods in it. No foreign keys: an account's own token belongs to no application.
  CREATE TABLE usage_hourly (
    hour timestamptz NOT NULL,
    period_id bigint NOT NULL,
    account_id bigint NOT NULL,
    application_id bigint NOT NULL,
    api_version text NOT NULL,
    points bigint NOT NULL CHECK (points >= 0),
    requests bigint NOT NULL CHECK (requests >= 0),
    time_ms bigint NOT NULL CHECK (time_ms >= 0),
    traffic_bytes bigint NOT NULL CHECK (traffic_bytes >= 0),
    PRIMARY KEY (period_id, hour, account_id, application_id, api_version)
  ) PARTITION BY RANGE (hour);
  CREATE INDEX usage_hourly_account_hour_idx ON usage_hourly (account_id, hour);

  -- One row. Hours before kept_from may have been dropped, so their sums prove nothing about totals.
  CREATE TABLE usage_hourly_kept (
    singleton boolean PRIMARY KEY DEFAULT true CHECK (singleton),
    kept_from timestamptz NOT NULL
  );
  INSERT INTO usage_hourly_kept (kept_from) VALUES ('1970-01-01T00:00:00Z');

  -- When each application was last used. A table of its own, so that counting usage never waits for a change of the
  -- application. No foreign key: usage can name an application that never existed.
  CREATE TABLE application_uses (
    application_id bigint PRIMARY KEY,
    last_used_at timestamptz NOT NULL
  );

  -- The replicas that share the usage streams; each keeps its own row alive.
  CREATE TABLE usage_readers (
    reader_id uuid PRIMARY KEY,
    alive_until timestamptz NOT NULL
  );

  -- The last entry of each usage stream that is counted; written in the transaction that counts it.
  CREATE TABLE usage_stream_positions (
    stream text PRIMARY KEY,
    position text NOT NULL CHECK (position ~ '^[0-9]{1,20}-[0-9]{1,20}$')
  );

  -- The last counted batch of each gateway process, by stream: a batch that comes again under another entry id, because
  -- Redis had forgotten the first, is skipped.
  CREATE TABLE usage_gateway_sequences (
    stream text NOT NULL,
    gateway_id text NOT NULL,
    last_seq bigint NOT NULL,
    -- What the process had written to the stream up to and including that batch (docs/design/counting.md); null if the
    -- batch doesn't say.
    batches bigint,
    requests bigint,
    points bigint,
    counted_at timestamptz NOT NULL,
    PRIMARY KEY (stream, gateway_id)
  );

  -- What could not be counted, as it came (text: it need not be JSON), for an operator to look at and count later, once.
  CREATE TABLE usage_unassigned (
    unassigned_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    stream text NOT NULL,
    entry_id text NOT NULL,
    -- Null where the whole entry could not be read.
    event_index integer,
    reason text NOT NULL,
    raw text NOT NULL,
    recorded_at timestamptz NOT NULL DEFAULT now(),
    counted_at timestamptz,
    counted_period_id bigint
  );
  CREATE UNIQUE INDEX usage_unassigned_entry_key
    ON usage_unassigned (stream, entry_id, coalesce(event_index, -1));

  -- Lost usage (docs/design/counting.md): up to where Redis was known to have trimmed the stream when its position was
  -- stored. A table of its own: a reader holds a position while it waits for other tables that a migration has locked.
  CREATE TABLE usage_stream_trims (
    stream text PRIMARY KEY,
    trimmed text NOT NULL CHECK (trimmed ~ '^[0-9]{1,20}-[0-9]{1,20}$')
  );
  CREATE TABLE usage_gaps (
    gap_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    stream text NOT NULL,
    cause text NOT NULL CHECK (cause IN ('batches_missing', 'redis_set_back', 'postgres_set_back')),
    -- Missing batches: whose, and their numbers among its batches of the stream.
    gateway_id text,
    first_batch bigint,
    last_batch bigint,
    -- Entries after the first and up to the second may be missing; a null second is not known.
    after_entry text,
    last_entry text,
    -- Null where the extent is not known.
    batches bigint,
    requests bigint,
    points bigint,
    -- What was recovered from the live counters.
    recovered_points bigint,
    recovered_requests bigint,
    recovered_time_ms bigint,
    recovered_traffic_bytes bigint,
    -- The gap by which the whole stream was found set back, where that explains this one.
    within_gap_id bigint,
    seen_at timestamptz NOT NULL DEFAULT clock_timestamp()
  );

  -- Usage that other systems report (docs/design/counting.md). A row stays for as long as its event would be accepted
  -- again.
  CREATE TABLE usage_reports (
    -- The id of the credential.
    reporter text NOT NULL CHECK (char_length(reporter) BETWEEN 1 AND 200),
    idempotency_key text NOT NULL CHECK (char_length(idempotency_key) BETWEEN 1 AND 255),
    -- SHA-256 in base64url of the event's content.
    content_hash text NOT NULL CHECK (char_length(content_hash) = 43),
    period_id bigint NOT NULL,
    occurred_at timestamptz NOT NULL,
    counted_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (reporter, idempotency_key)
  );
  CREATE INDEX usage_reports_occurred_at_idx ON usage_reports (occurred_at);

  -- Changes of totals that the live counters in Redis still lack. Without amounts, the counters are to be rebuilt.
  CREATE TABLE usage_refresh_outbox (
    outbox_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    period_id bigint NOT NULL,
    payer_id bigint NOT NULL,
    previous_version bigint NOT NULL,
    usage_version bigint NOT NULL CHECK (usage_version > previous_version),
    points bigint,
    requests bigint,
    time_ms bigint,
    traffic_bytes bigint,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp()
  );
`;
