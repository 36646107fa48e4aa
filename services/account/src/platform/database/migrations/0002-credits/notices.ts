/** What the notifications of credits are to say, and when (docs/design/deliveries.md). */
export const NOTICES = /* sql */ `
  ALTER TABLE webhook_deliveries DROP CONSTRAINT webhook_deliveries_event_type_check;
  -- Not checked for the rows that are there, which would block deliveries: they have fewer types.
  ALTER TABLE webhook_deliveries ADD CONSTRAINT webhook_deliveries_event_type_check CHECK (event_type IN
    ('usage.alert', 'credits.granted', 'credits.expiring', 'credits.low', 'webhook.test')) NOT VALID;

  -- For mails about one grant. No reference: grants are never deleted.
  ALTER TABLE mail_outbox ADD COLUMN credit_id bigint;

  -- Rows are added with a grant and taken once.
  CREATE TABLE credit_notices (
    notice_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    credit_id bigint NOT NULL REFERENCES credit_grants,
    kind text NOT NULL CHECK (kind IN ('granted', 'started', 'expiring')),
    -- When it was granted, starts or expires. The one about the expiry is due CREDITS_EXPIRING_DAYS earlier.
    at timestamptz NOT NULL,
    next_attempt_at timestamptz NOT NULL DEFAULT clock_timestamp()
  );
  CREATE INDEX credit_notices_at_idx ON credit_notices (at);

  -- What an account could use when its latest grant started: the measure of whether little is left.
  CREATE TABLE credit_levels (
    account_id bigint PRIMARY KEY REFERENCES accounts,
    points bigint NOT NULL CHECK (points >= 0),
    -- Null as long as enough is left.
    low_at timestamptz
  );

  CREATE FUNCTION credit_notices_added() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO credit_notices (credit_id, kind, at)
        SELECT credit_id, kind, at FROM new_rows CROSS JOIN LATERAL (VALUES
          ('granted', clock_timestamp()), ('started', usable_from), ('expiring', expires_at)) AS notice (kind, at)
        WHERE at IS NOT NULL;
      RETURN NULL;
    END
  $$;
  CREATE TRIGGER credit_grants_notices_added AFTER INSERT ON credit_grants
    REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION credit_notices_added();
  CREATE TRIGGER credit_notices_announced AFTER INSERT ON credit_notices
    FOR EACH ROW EXECUTE FUNCTION announce_due_work();

  -- Whether usage takes credits of an account that had enough when this was last looked at.
  CREATE FUNCTION may_be_low_on_credits(period billing_periods, points bigint) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT EXISTS (SELECT FROM credit_levels WHERE credit_levels.account_id = period.account_id AND low_at IS NULL)
      AND jsonb_typeof(period.description -> 'points_limit') = 'number'
      AND points > CAST(period.description -> 'points_limit' AS numeric)
  $$;
`;
