import type { Knex } from 'knex';

/** Grants whose use ends in part: a cap of further points that is lowered (docs/design/credits.md). */
export async function up(knex: Knex): Promise<void> {
  await knex.schema.raw(/* sql */ `
    -- The last points of a grant, which can't be used from an instant on. The rest of the grant goes on.
    CREATE TABLE credit_reductions (
      reduction_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      credit_id bigint NOT NULL REFERENCES credit_grants,
      account_id bigint NOT NULL,
      -- By Redis' clock.
      at timestamptz(3) NOT NULL,
      points bigint NOT NULL CHECK (points > 0),
      -- Both null until the usage before that instant is settled: how many of the points were unused then.
      reduced_at timestamptz,
      points_voided bigint,
      CONSTRAINT credit_reductions_reduced CHECK ((reduced_at IS NULL) = (points_voided IS NULL)
        AND (points_voided IS NULL OR points_voided BETWEEN 0 AND points))
    );
    CREATE INDEX credit_reductions_credit_id_idx ON credit_reductions (credit_id);
    CREATE INDEX credit_reductions_pending_idx ON credit_reductions (account_id) WHERE reduced_at IS NULL;

    CREATE FUNCTION credit_reductions_cut() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        INSERT INTO credit_cuts (account_id, at) VALUES (NEW.account_id, NEW.at)
          ON CONFLICT (account_id, at) DO UPDATE SET resolved_at = NULL;
        PERFORM entitlements_changed(ARRAY[NEW.account_id]);
        RETURN NULL;
      END
    $$;
    CREATE TRIGGER credit_reductions_cut AFTER INSERT ON credit_reductions
      FOR EACH ROW EXECUTE FUNCTION credit_reductions_cut();

    -- How many of a grant's last points can't be used any more, until that is settled.
    CREATE FUNCTION credit_points_ending(credit_grants) RETURNS bigint LANGUAGE sql STABLE AS $$
      SELECT least($1.points_remaining, coalesce((SELECT sum(points) FROM credit_reductions
        WHERE credit_id = $1.credit_id AND reduced_at IS NULL), 0))::bigint
    $$;

    -- As before, and points that end with a reduction count as far as usage needs them: they are used after all others.
    CREATE OR REPLACE FUNCTION period_credit_points(wanted_id bigint, at timestamptz) RETURNS bigint LANGUAGE plpgsql STABLE AS $$
      DECLARE
        own record;
        reserved numeric;
        usable numeric;
        ended numeric;
        reduced numeric;
      BEGIN
        SELECT period.account_id, period.started_at, closing.period_id IS NOT NULL AS is_open,
          coalesce(settled_points, 0) AS settled, period_unsettled_points(period) AS unsettled,
          EXISTS (SELECT FROM billing_periods AS later WHERE later.account_id = period.account_id
            AND later.started_at > period.started_at AND later.started_at <= at) AS is_followed
        INTO own
        FROM billing_periods AS period LEFT JOIN period_credits USING (period_id)
        LEFT JOIN period_closings AS closing USING (period_id) WHERE period.period_id = wanted_id;
        IF NOT own.is_open OR own.started_at > at THEN
          RETURN own.settled;
        ELSIF own.is_followed THEN
          RETURN own.settled + own.unsettled;
        END IF;
        SELECT coalesce(sum(period_unsettled_points(period)), 0) INTO reserved
        FROM period_closings JOIN billing_periods AS period USING (period_id)
        WHERE period_closings.account_id = own.account_id AND period.started_at < own.started_at;
        SELECT coalesce(sum(points_remaining - points_ending) FILTER (WHERE ends_at > at), 0),
          coalesce(sum(points_remaining) FILTER (WHERE ends_at <= at), 0),
          coalesce(sum(points_ending) FILTER (WHERE ends_at > at), 0) INTO usable, ended, reduced
        FROM (
          SELECT points_remaining, credit_points_ending(credit_grants) AS points_ending,
            coalesce(least(expires_at, void_requested_at), 'infinity') AS ends_at
          FROM credit_grants WHERE account_id = own.account_id AND points_remaining > 0 AND usable_from <= at
        ) AS live;
        usable := greatest(0, usable - reserved);
        ended := least(ended, own.unsettled);
        reduced := least(reduced, greatest(0, own.unsettled - usable - ended));
        RETURN least(own.settled + usable + ended + reduced, 9007199254740991);
      END
    $$;
  `);
}
