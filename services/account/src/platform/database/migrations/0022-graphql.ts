import type { Knex } from 'knex';

/**
 * The documents that an application is limited to (docs/design/admission.md), and what requests were estimated to cost
 * beside what they did (docs/design/price.md).
 */
export async function up(knex: Knex): Promise<void> {
  await knex.schema.raw(/* sql */ `
    -- Of an operation's requests with an estimate for which the data API stated a price.
    -- Their rules apply to new rows only: reading all rows of 14 months would hold up counting.
    ALTER TABLE usage_operations
      ADD COLUMN compared_requests bigint NOT NULL DEFAULT 0,
      ADD COLUMN compared_points bigint NOT NULL DEFAULT 0,
      ADD COLUMN estimated_points bigint NOT NULL DEFAULT 0,
      -- Of these, what cost more than its estimate, and by how much.
      ADD COLUMN exceeding_requests bigint NOT NULL DEFAULT 0,
      ADD COLUMN excess_points bigint NOT NULL DEFAULT 0,
      ADD CONSTRAINT usage_operations_compared_check CHECK (
        least(compared_requests, compared_points, estimated_points, exceeding_requests, excess_points) >= 0
      ) NOT VALID;

    CREATE TABLE trusted_documents (
      application_id bigint NOT NULL REFERENCES applications,
      api_version text NOT NULL CHECK (api_version IN ('v1', 'v2')),
      -- Of the exact text, in hex.
      sha256 text NOT NULL CHECK (char_length(sha256) = 64),
      -- By which callers may name it beside its SHA-256.
      document_id text CHECK (char_length(document_id) BETWEEN 1 AND 200),
      document text NOT NULL CHECK (char_length(document) BETWEEN 1 AND 65536),
      registered_at timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (application_id, api_version, sha256),
      CONSTRAINT trusted_documents_id UNIQUE (application_id, api_version, document_id)
    );

    -- Of applications that have, or had, documents or the limit. Each change has the next revision.
    CREATE TABLE document_trust (
      application_id bigint PRIMARY KEY REFERENCES applications,
      is_enforced boolean NOT NULL,
      revision bigint NOT NULL CHECK (revision > 0)
    );

    CREATE FUNCTION document_trust_changed() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        PERFORM entitlements_changed(ARRAY(
          SELECT account_id FROM changed_rows JOIN applications USING (application_id)));
        RETURN NULL;
      END
    $$;
    CREATE TRIGGER document_trust_added AFTER INSERT ON document_trust
      REFERENCING NEW TABLE AS changed_rows FOR EACH STATEMENT EXECUTE FUNCTION document_trust_changed();
    CREATE TRIGGER document_trust_changed AFTER UPDATE ON document_trust
      REFERENCING NEW TABLE AS changed_rows FOR EACH STATEMENT EXECUTE FUNCTION document_trust_changed();
    CREATE TRIGGER document_trust_removed AFTER DELETE ON document_trust
      REFERENCING OLD TABLE AS changed_rows FOR EACH STATEMENT EXECUTE FUNCTION document_trust_changed();

    CREATE FUNCTION end_trusted_documents() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        DELETE FROM trusted_documents WHERE application_id = OLD.application_id;
        DELETE FROM document_trust WHERE application_id = OLD.application_id;
        RETURN NULL;
      END
    $$;
    CREATE TRIGGER applications_documents_ended AFTER UPDATE ON applications
      FOR EACH ROW WHEN (NEW.status = 'deleted' AND OLD.status <> 'deleted') EXECUTE FUNCTION end_trusted_documents();
  `);
}

export const exceptions = {
  'usage_operations_compared_check is a rule, or an index, that usage_operations did not have':
    'the version before leaves the columns at their defaults',
};
