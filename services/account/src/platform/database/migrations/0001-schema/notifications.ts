/** Usage alerts, webhooks (docs/design/deliveries.md) and mails. */
export const NOTIFICATIONS = /* sql */ `
  -- An account without a row has the defaults (alerts/rules.ts).
  CREATE TABLE alert_settings (
    account_id bigint PRIMARY KEY REFERENCES accounts,
    mail boolean NOT NULL,
    -- Whole percents, for every limit that limit_shares does not name.
    shares integer[] NOT NULL CHECK (cardinality(shares) <= 10),
    limit_shares jsonb NOT NULL CHECK (jsonb_typeof(limit_shares) = 'object'),
    changed_at timestamptz NOT NULL DEFAULT now()
  );

  -- Thresholds that a period's usage has passed; the unique key allows each alert once.
  CREATE TABLE usage_alerts (
    alert_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    account_id bigint NOT NULL REFERENCES accounts,
    period_id bigint NOT NULL REFERENCES billing_periods ON DELETE CASCADE,
    limit_name text NOT NULL CHECK (limit_name IN ('points_limit', 'time_sec_limit', 'traffic_bytes_limit',
      'team_slots_limit')),
    share integer NOT NULL CHECK (share BETWEEN 1 AND 100),
    -- When it was noticed, in the limit's unit.
    used bigint NOT NULL CHECK (used >= 0),
    limit_value bigint NOT NULL CHECK (limit_value > 0),
    created_at timestamptz NOT NULL DEFAULT now(),
    UNIQUE (period_id, limit_name, share)
  );

  -- Periods to be checked for alerts. Rows are only added and taken, never shared: a row that was there already could
  -- be taken by a transaction that does not see yet what it would have to stand for.
  CREATE TABLE usage_alert_checks (
    check_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    period_id bigint NOT NULL,
    due_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    created_at timestamptz NOT NULL DEFAULT clock_timestamp()
  );
  CREATE INDEX usage_alert_checks_due_at_idx ON usage_alert_checks (due_at);
  CREATE INDEX usage_alert_checks_period_id_idx ON usage_alert_checks (period_id);

  CREATE TABLE webhooks (
    webhook_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    account_id bigint NOT NULL REFERENCES accounts,
    url text NOT NULL CHECK (char_length(url) BETWEEN 1 AND 2000),
    description text NOT NULL CHECK (char_length(description) <= 200),
    created_at timestamptz NOT NULL DEFAULT now(),
    disabled_at timestamptz,
    disabled_reason text CHECK (disabled_reason IN ('owner', 'gone', 'failing')),
    -- The first failed attempt since the last one that succeeded.
    failing_since timestamptz,
    -- From then on it counts as quick (docs/design/deliveries.md); null until its first quick success.
    quick_from timestamptz,
    -- Postponed before each delivery, so that one attempt is under way at a time: a lease, which ends by itself if the
    -- process dies.
    leased_until timestamptz NOT NULL DEFAULT now(),
    CHECK ((disabled_at IS NULL) = (disabled_reason IS NULL))
  );
  CREATE INDEX webhooks_account_id_idx ON webhooks (account_id, webhook_id);

  CREATE TABLE webhook_secrets (
    secret_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    webhook_id bigint NOT NULL REFERENCES webhooks ON DELETE CASCADE,
    -- AES-256-GCM under the named key: ciphertext and tag.
    sealing_key_id text NOT NULL,
    sealed_nonce bytea NOT NULL CHECK (octet_length(sealed_nonce) = 12),
    sealed_secret bytea NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    -- Null for the present one.
    expires_at timestamptz
  );
  CREATE UNIQUE INDEX webhook_secrets_present_key ON webhook_secrets (webhook_id) WHERE expires_at IS NULL;
  CREATE INDEX webhook_secrets_webhook_id_idx ON webhook_secrets (webhook_id);
  CREATE INDEX webhook_secrets_expires_at_idx ON webhook_secrets (expires_at);
  CREATE INDEX webhook_secrets_sealing_key_id_idx ON webhook_secrets (sealing_key_id, secret_id);

  CREATE TABLE webhook_deliveries (
    delivery_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    webhook_id bigint NOT NULL REFERENCES webhooks ON DELETE CASCADE,
    -- The header webhook-id, the same at every attempt.
    message_id text NOT NULL UNIQUE,
    event_type text NOT NULL CHECK (event_type IN ('usage.alert', 'webhook.test')),
    -- The body, byte for byte as it is signed.
    payload text NOT NULL,
    status text NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'delivered', 'failed')),
    attempts integer NOT NULL DEFAULT 0 CHECK (attempts >= 0),
    next_attempt_at timestamptz DEFAULT now(),
    created_at timestamptz NOT NULL DEFAULT now(),
    -- Of the last attempt.
    attempted_at timestamptz,
    response_status integer,
    duration_ms integer CHECK (duration_ms >= 0),
    error text,
    CHECK ((status = 'pending') = (next_attempt_at IS NOT NULL))
  );
  CREATE INDEX webhook_deliveries_webhook_id_idx ON webhook_deliveries (webhook_id, delivery_id);
  CREATE INDEX webhook_deliveries_next_attempt_at_idx ON webhook_deliveries (next_attempt_at, webhook_id)
    WHERE status = 'pending';
  CREATE INDEX webhook_deliveries_created_at_idx ON webhook_deliveries (created_at) WHERE status <> 'pending';

  -- What webhook_deliveries says of the last attempt, of each.
  CREATE TABLE webhook_delivery_attempts (
    delivery_id bigint NOT NULL REFERENCES webhook_deliveries ON DELETE CASCADE,
    attempt integer NOT NULL CHECK (attempt >= 1),
    attempted_at timestamptz NOT NULL,
    response_status integer,
    duration_ms integer CHECK (duration_ms >= 0),
    error text,
    next_attempt_at timestamptz,
    PRIMARY KEY (delivery_id, attempt)
  );

  -- Mails to be sent. No token is in here: the worker makes it when it sends.
  CREATE TABLE mail_outbox (
    mail_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    -- The renderers know the kinds (mail/mail-renderer.ts).
    kind text NOT NULL CHECK (kind ~ '^[a-z_]{1,60}$'),
    recipient text NOT NULL CHECK (char_length(recipient) BETWEEN 3 AND 254),
    -- From here to request_id: null for the kinds that don't use it.
    account_id bigint REFERENCES accounts,
    name text,
    password_hash text,
    invitation_id bigint REFERENCES team_invitations ON DELETE CASCADE,
    alert_id bigint REFERENCES usage_alerts ON DELETE CASCADE,
    -- No reference: a mail about a webhook that is deleted meanwhile isn't sent.
    webhook_id bigint,
    -- Where the request for the mail came from, for the audit log of the account that it turns out to be for.
    request_address text,
    request_id text,
    created_at timestamptz NOT NULL DEFAULT now(),
    attempts integer NOT NULL DEFAULT 0 CHECK (attempts >= 0),
    -- Postponed before each attempt: a lease, which ends by itself if the process dies.
    next_attempt_at timestamptz NOT NULL DEFAULT now()
  );
  CREATE INDEX mail_outbox_next_attempt_at_idx ON mail_outbox (next_attempt_at);
  CREATE INDEX mail_outbox_invitation_id_idx ON mail_outbox (invitation_id);
  CREATE INDEX mail_outbox_alert_id_idx ON mail_outbox (alert_id);
`;
