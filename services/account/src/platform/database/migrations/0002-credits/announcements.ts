/** Changed credits change entitlements; new cuts and corrections are work of the closings. */
export const ANNOUNCEMENTS = /* sql */ `
  CREATE FUNCTION credits_changed() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      PERFORM entitlements_changed(ARRAY(SELECT account_id FROM new_rows));
      RETURN NULL;
    END
  $$;
  CREATE FUNCTION period_credits_changed() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      -- Without grants, closing a period changes no entitlement.
      PERFORM entitlements_changed(ARRAY(
        SELECT account_id FROM new_rows JOIN billing_periods USING (period_id)
        WHERE EXISTS (SELECT FROM credit_grants WHERE credit_grants.account_id = billing_periods.account_id)));
      RETURN NULL;
    END
  $$;
  CREATE TRIGGER credit_grants_added AFTER INSERT ON credit_grants
    REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION credits_changed();
  CREATE TRIGGER credit_grants_changed AFTER UPDATE ON credit_grants
    REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION credits_changed();
  CREATE TRIGGER credit_cuts_changed AFTER UPDATE ON credit_cuts
    REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION credits_changed();
  CREATE TRIGGER period_credits_added AFTER INSERT ON period_credits
    REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION period_credits_changed();
  CREATE TRIGGER period_credits_changed AFTER UPDATE ON period_credits
    REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION period_credits_changed();

  CREATE TRIGGER credit_cuts_announced AFTER INSERT ON credit_cuts
    FOR EACH ROW EXECUTE FUNCTION announce_due_work();
  CREATE TRIGGER credit_corrections_announced AFTER INSERT ON credit_corrections
    FOR EACH ROW EXECUTE FUNCTION announce_due_work();
`;
