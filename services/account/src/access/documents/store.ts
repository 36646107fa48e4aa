import type { TrustedDocuments } from '@tollgate/contracts/trusted-documents';
import type { Query } from '../../platform/database/query.ts';

export type ApiVersion = 'v1' | 'v2';

export type RegisteredDocument = {
  api_version: ApiVersion;
  sha256: string;
  document_id: string | null;
  text: string;
};

export type DocumentName = Omit<RegisteredDocument, 'text'>;

export type ListedDocument = RegisteredDocument & { registered_at: Date };

export function findDocuments(query: Query, applicationId: number): Promise<ListedDocument[]> {
  return query<ListedDocument>(
    `SELECT api_version, sha256, document_id, document AS text, registered_at FROM trusted_documents
     WHERE application_id = :applicationId ORDER BY api_version, registered_at, sha256`,
    { applicationId },
  );
}

type Trust = { is_enforced: boolean; revision: number };

export async function findTrust(query: Query, applicationId: number): Promise<Trust> {
  const [row] = await query<Trust>(
    'SELECT is_enforced, revision FROM document_trust WHERE application_id = :applicationId',
    { applicationId },
  );
  return row ?? { is_enforced: false, revision: 0 };
}

/** For gateways: in one statement, so that the documents are those of the revision. */
export async function findTrustedDocuments(query: Query, applicationId: number): Promise<TrustedDocuments> {
  type Row = { revision: number } & (RegisteredDocument | { sha256: null });
  const rows = await query<Row>(
    `SELECT revision, api_version, sha256, document_id, document AS text
     FROM document_trust LEFT JOIN trusted_documents USING (application_id)
     WHERE application_id = :applicationId ORDER BY api_version, sha256`,
    { applicationId },
  );
  return {
    revision: rows[0]?.revision ?? 0,
    documents: rows.flatMap((row) => {
      if (row.sha256 === null) return [];
      const { api_version, sha256, document_id, text } = row;
      return [{ api_version, sha256, document_id, text }];
    }),
  };
}

/**
 * The application is locked. A null `enforced` leaves the limit as it is. Revisions follow the clock, so that none
 * returns after a restore.
 */
export async function setTrust(
  query: Query,
  applicationId: number,
  enforced: boolean | null = null,
): Promise<void> {
  await query(
    `INSERT INTO document_trust AS trust (application_id, is_enforced, revision)
     VALUES (:applicationId, coalesce(CAST(:enforced AS boolean), false),
       CAST(extract(epoch FROM clock_timestamp()) * 1000 AS bigint))
     ON CONFLICT (application_id) DO UPDATE
       SET is_enforced = coalesce(CAST(:enforced AS boolean), trust.is_enforced),
         revision = greatest(trust.revision + 1, excluded.revision)`,
    { applicationId, enforced },
  );
}

/** The application is locked. Ids move to the documents that now have them. */
export async function insertDocuments(
  query: Query,
  applicationId: number,
  documents: readonly RegisteredDocument[],
): Promise<void> {
  const bindings = { applicationId, documents: JSON.stringify(documents) };
  const sent = `json_to_recordset(CAST(:documents AS json))
    AS sent (api_version text, sha256 text, document_id text, text text)`;
  await query(
    `UPDATE trusted_documents SET document_id = NULL FROM ${sent}
     WHERE trusted_documents.application_id = :applicationId
       AND trusted_documents.api_version = sent.api_version
       AND trusted_documents.document_id = sent.document_id AND trusted_documents.sha256 <> sent.sha256`,
    bindings,
  );
  await query(
    `INSERT INTO trusted_documents AS known (application_id, api_version, sha256, document_id, document)
     SELECT :applicationId, api_version, sha256, document_id, text FROM ${sent}
     ON CONFLICT (application_id, api_version, sha256)
       DO UPDATE SET document_id = coalesce(excluded.document_id, known.document_id)`,
    bindings,
  );
}

/** The application is locked. Undefined if there is none. */
export async function deleteDocument(
  query: Query,
  key: { application_id: number; api_version: ApiVersion; sha256: string },
): Promise<DocumentName | undefined> {
  const rows = await query<DocumentName>(
    `DELETE FROM trusted_documents
     WHERE application_id = :application_id AND api_version = :api_version AND sha256 = :sha256
     RETURNING api_version, sha256, document_id`,
    key,
  );
  return rows[0];
}

export type AccountDocument = {
  application_id: number;
  api_version: ApiVersion;
  sha256: string;
  document_id: string | null;
  document: string;
  registered_at: Date;
};

/** Of all applications of an account, for its export. */
export function listDocumentsOfAccount(
  query: Query,
  accountId: number,
  after: AccountDocument | undefined,
  limit: number,
): Promise<AccountDocument[]> {
  const { application_id = 0, api_version = '', sha256 = '' } = after ?? {};
  return query<AccountDocument>(
    `SELECT application_id, api_version, sha256, document_id, document, registered_at
     FROM trusted_documents JOIN applications USING (application_id)
     WHERE account_id = :accountId
       AND (application_id, api_version, sha256) > (:application_id, CAST(:api_version AS text), CAST(:sha256 AS text))
     ORDER BY application_id, api_version, sha256 LIMIT :limit`,
    { accountId, application_id, api_version, sha256, limit },
  );
}
