import type { Knex } from 'knex';

/** Applications that an operator has verified (docs/design/authorization.md). */
export async function up(knex: Knex): Promise<void> {
  await knex.schema.raw(/* sql */ `
    -- Null: no operator has verified it. What was verified are its name, its redirect URIs and its developer's name.
    ALTER TABLE applications ADD COLUMN verified_at timestamptz;

    -- By triggers, so that it also holds for changes that a version without verification makes.
    CREATE FUNCTION end_verification() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        NEW.verified_at := NULL;
        RETURN NEW;
      END
    $$;
    CREATE TRIGGER end_verification BEFORE UPDATE OF name, redirect_uris ON applications FOR EACH ROW
      WHEN (OLD.verified_at IS NOT NULL AND (NEW.name, NEW.redirect_uris) IS DISTINCT FROM (OLD.name, OLD.redirect_uris))
      EXECUTE FUNCTION end_verification();

    CREATE FUNCTION end_verifications_of_developer() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        UPDATE applications SET verified_at = NULL WHERE account_id = NEW.account_id AND verified_at IS NOT NULL;
        RETURN NULL;
      END
    $$;
    CREATE TRIGGER end_verifications_of_developer AFTER UPDATE OF name ON accounts FOR EACH ROW
      WHEN (NEW.name IS DISTINCT FROM OLD.name)
      EXECUTE FUNCTION end_verifications_of_developer();
  `);
}
