const TABLES = [
  'client_change_outbox',
  'mail_outbox',
  'usage_refresh_outbox',
  'usage_alert_checks',
  'webhook_deliveries',
  'sign_up_plans',
];

/**
 * Announces new work to the loops of all replicas, so that they needn't poll all the time (docs/design/deliveries.md).
 * A session does so once in two seconds, after which replicas look often anyway: usage must not take the lock of the
 * whole database that a notice costs at each commit.
 */
export const DUE_WORK = /* sql */ `
  CREATE FUNCTION announce_due_work() RETURNS trigger LANGUAGE plpgsql AS $$
    DECLARE
      at_sec float8 := extract(epoch FROM clock_timestamp());
      announced_sec text := current_setting('tollgate.due_work_announced_at', true);
    BEGIN
      IF abs(at_sec - coalesce(nullif(announced_sec, '')::float8, 0)) >= 2 THEN
        NOTIFY due_work;
        -- Undone with the transaction, like the notice.
        PERFORM set_config('tollgate.due_work_announced_at', at_sec::text, false);
      END IF;
      RETURN NULL;
    END
  $$;
  ${TABLES.map(
    (table) => `CREATE TRIGGER ${table}_announced AFTER INSERT ON ${table}
      FOR EACH ROW EXECUTE FUNCTION announce_due_work();`,
  ).join('\n  ')}
`;
