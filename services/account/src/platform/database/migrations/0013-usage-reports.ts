import type { Knex } from 'knex';

/** Usage that other systems report, and how it reaches the gateways (ADR 0029). */
export async function up(knex: Knex): Promise<void> {
  await knex.schema.raw(`
    -- Grows with every change of the totals that came by no stream: live counters in Redis tell by it whether they
    -- contain the change.
    ALTER TABLE usage_totals ADD COLUMN usage_version bigint NOT NULL DEFAULT 0;

    -- What has been counted of reports. A row stays for as long as its event would be taken again.
    CREATE TABLE usage_reports (
      -- The id of the credential.
      reporter text NOT NULL CHECK (char_length(reporter) BETWEEN 1 AND 200),
      idempotency_key text NOT NULL CHECK (char_length(idempotency_key) BETWEEN 1 AND 255),
      -- SHA-256 in base64url of what the event says.
      content_hash text NOT NULL CHECK (char_length(content_hash) = 43),
      period_id bigint NOT NULL,
      occurred_at timestamptz NOT NULL,
      counted_at timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (reporter, idempotency_key)
    );
    CREATE INDEX usage_reports_occurred_at_idx ON usage_reports (occurred_at);

    -- Changes of totals that Redis is still to be told of. Without counters where the whole is to be built anew.
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
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.schema.raw(`
    DROP TABLE usage_refresh_outbox, usage_reports;
    ALTER TABLE usage_totals DROP COLUMN usage_version;
  `);
}
