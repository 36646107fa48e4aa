/** Refused and failed data calls (docs/design/settlement.md). No foreign keys: records outlive what they name. */
export const REFUSALS = /* sql */ `
  CREATE TABLE refused_calls (
    refused_call_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    recorded_at timestamptz NOT NULL DEFAULT now(),
    request_id text NOT NULL,
    seq bigint NOT NULL,
    at timestamptz NOT NULL,
    kind text NOT NULL,
    code text NOT NULL,
    status integer,
    account_id bigint,
    payer_id bigint,
    application_id bigint,
    client_id uuid,
    address text NOT NULL,
    api_version text NOT NULL,
    operation_name text,
    duration_ms bigint,
    -- What the call cost.
    points bigint,
    detail text,
    unrecorded_before bigint NOT NULL,
    -- The gateways may send a record twice.
    UNIQUE (request_id, seq)
  );
  CREATE INDEX refused_calls_account_id_idx ON refused_calls (account_id, refused_call_id);
  CREATE INDEX refused_calls_account_code_idx ON refused_calls (account_id, code, refused_call_id);
  CREATE INDEX refused_calls_application_idx ON refused_calls (application_id, refused_call_id);
  CREATE INDEX refused_calls_recorded_at_idx ON refused_calls (recorded_at);
  -- Who sees a record: the payer, or without one the account. Pages are read backwards by id.
  CREATE INDEX refused_calls_seen_by_idx ON refused_calls ((coalesce(payer_id, account_id)), refused_call_id);
  CREATE INDEX refused_calls_seen_by_code_idx
    ON refused_calls ((coalesce(payer_id, account_id)), code, refused_call_id);

  -- Records of an account on a day, UTC; account 0 stands for records that name none. It bounds how many are kept.
  CREATE TABLE refused_call_days (
    day date NOT NULL,
    account_id bigint NOT NULL,
    refusals bigint NOT NULL,
    PRIMARY KEY (account_id, day)
  );
  CREATE INDEX refused_call_days_day_idx ON refused_call_days (day);

  -- Exact numbers. Without a payer it is the account; application 0 is none.
  CREATE TABLE refused_call_counts (
    hour timestamptz NOT NULL,
    account_id bigint NOT NULL,
    payer_id bigint NOT NULL,
    application_id bigint NOT NULL,
    code text NOT NULL,
    calls bigint NOT NULL,
    last_at timestamptz NOT NULL,
    PRIMARY KEY (account_id, hour, payer_id, application_id, code)
  );
  CREATE INDEX refused_call_counts_payer_idx ON refused_call_counts (payer_id, hour);
  CREATE INDEX refused_call_counts_hour_idx ON refused_call_counts (hour);

  -- The last counted batch of each gateway process: a repeated one is skipped.
  CREATE TABLE refused_call_gateways (
    gateway_id uuid PRIMARY KEY,
    last_seq bigint NOT NULL,
    seen_at timestamptz NOT NULL DEFAULT now()
  );
`;
