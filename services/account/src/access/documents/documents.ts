import { createHash } from 'node:crypto';
import { TRUSTED_DOCUMENTS_MAX, TRUSTED_DOCUMENTS_MAX_BYTES } from '@tollgate/contracts/trusted-documents';
import { invalidFields } from '@tollgate/http/invalid-fields';
import { Problem } from '@tollgate/http/problem';
import type { Actor } from '../../platform/audit/audit-log.ts';
import { recordAudit } from '../../platform/audit/audit-log.ts';
import { changeOf } from '../../platform/audit/change.ts';
import type { Change } from '../../platform/audit/change.ts';
import type { Query } from '../../platform/database/query.ts';
import type { Application, ApplicationKey } from '../applications/application.ts';
import { findApplication, lockApplication } from '../applications/store.ts';
import type { NewDocument } from './input.ts';
import { deleteDocument, findDocuments, findTrust, insertDocuments, setTrust } from './store.ts';
import type { ApiVersion, DocumentName, ListedDocument, RegisteredDocument } from './store.ts';

type Named = Omit<RegisteredDocument, 'text'> & { name: string | null };

export type DocumentList = {
  application_id: number;
  enforced: boolean;
  documents: (Named & { length: number; registered_at: Date })[];
};

/** @throws {Problem} not_found */
export async function listDocuments(query: Query, key: ApplicationKey): Promise<DocumentList> {
  const application = await findApplication(query, key);
  if (application === undefined) throw new Problem('not_found');
  const { application_id } = application;
  const { is_enforced } = await findTrust(query, application_id);
  const documents = await findDocuments(query, application_id);
  return { application_id, enforced: is_enforced, documents: documents.map(listed) };
}

function listed(document: ListedDocument) {
  const { text, registered_at } = document;
  return { ...named(document), length: text.length, registered_at };
}

export type Registration = {
  application_id: number;
  dry_run: boolean;
  new_documents: Named[];
  known_documents: number;
  changed_ids: ChangedId[];
};

/** A known document that gets another id, or loses the one that it has to another document. */
type ChangedId = Pick<RegisteredDocument, 'api_version' | 'sha256' | 'document_id'> & {
  former_document_id: string | null;
};

/**
 * Adds documents; none is removed. Gateways know them within a second.
 * @throws {Problem} not_found; invalid_request beyond what an application may have
 */
export async function registerDocuments(
  query: Query,
  key: ApplicationKey,
  {
    api_version,
    documents,
    dry_run,
  }: { api_version: ApiVersion; documents: NewDocument[]; dry_run: boolean },
  by: Actor,
): Promise<Registration> {
  const application = await locked(query, key);
  const { application_id } = application;
  const before = await findDocuments(query, application_id);
  const known = new Map(before.map((each) => [`${each.api_version} ${each.sha256}`, each]));
  const sent = new Map(
    documents.map(({ document_id, text }) => {
      const sha256 = createHash('sha256').update(text).digest('hex');
      return [sha256, { api_version, sha256, document_id, text }];
    }),
  );
  assertDistinctIds([...sent.values()]);
  const isNew = ({ sha256 }: RegisteredDocument) => !known.has(`${api_version} ${sha256}`);
  const added = [...sent.values()].filter(isNew);
  assertRoom([...before, ...added]);
  const changed = [...sent.values()].filter((each) => {
    const { document_id } = known.get(`${api_version} ${each.sha256}`) ?? {};
    return isNew(each) || (each.document_id !== null && each.document_id !== document_id);
  });
  if (!dry_run && changed.length > 0) {
    await insertDocuments(query, application_id, changed);
    await setTrust(query, application_id);
    const details = { api_version, registered: added.map(({ sha256 }) => sha256).slice(0, RECORDED_MAX) };
    const known_before = changed.flatMap(({ sha256 }) => known.get(`${api_version} ${sha256}`) ?? []);
    const change = changeOf(
      ['documents'],
      known_before.length === 0 ? null : { documents: recorded(known_before) },
      { documents: recorded(changed) },
    );
    await audit(query, application, by, details, change);
  }
  return {
    application_id,
    dry_run,
    new_documents: added.map(named),
    known_documents: sent.size - added.length,
    changed_ids: changedIds(
      before.filter((each) => each.api_version === api_version),
      sent,
    ),
  };
}

function changedIds(
  before: readonly RegisteredDocument[],
  sent: ReadonlyMap<string, RegisteredDocument>,
): ChangedId[] {
  const ids = new Set([...sent.values()].flatMap(({ document_id }) => document_id ?? []));
  return before.flatMap(({ api_version, sha256, document_id: former_document_id }) => {
    const keeps = former_document_id !== null && !ids.has(former_document_id);
    const document_id = sent.get(sha256)?.document_id ?? (keeps ? former_document_id : null);
    return document_id === former_document_id
      ? []
      : [{ api_version, sha256, document_id, former_document_id }];
  });
}

/** @throws {Problem} not_found */
export async function removeDocument(
  query: Query,
  key: ApplicationKey,
  document: { api_version: ApiVersion; sha256: string },
  by: Actor,
): Promise<void> {
  const application = await locked(query, key);
  const { application_id } = application;
  const removed = await deleteDocument(query, { application_id, ...document });
  if (removed === undefined) throw new Problem('not_found');
  await setTrust(query, application_id);
  const details = { api_version: document.api_version, removed: document.sha256 };
  const change = changeOf(['documents'], { documents: [removed] }, null);
  await audit(query, application, by, details, change);
}

/** Whether only its documents run. @throws {Problem} not_found */
export async function enforceDocuments(
  query: Query,
  key: ApplicationKey,
  enforced: boolean,
  by: Actor,
): Promise<void> {
  const application = await locked(query, key);
  const { application_id } = application;
  const { is_enforced } = await findTrust(query, application_id);
  if (is_enforced === enforced) return;
  await setTrust(query, application_id, enforced);
  await audit(
    query,
    application,
    by,
    { enforced },
    changeOf(['enforced'], { enforced: is_enforced }, { enforced }),
  );
}

async function locked(query: Query, key: ApplicationKey): Promise<Application> {
  const application = await lockApplication(query, key);
  if (application === undefined) throw new Problem('not_found');
  // Its users' connections make the calls, and have no documents of their own.
  if (application.type === 'authorization') {
    throw new Problem('invalid_request', {
      detail: 'An application of the type Authorization can’t be limited to documents.',
    });
  }
  return application;
}

function assertDistinctIds(documents: readonly RegisteredDocument[]): void {
  const ids = documents.flatMap(({ document_id }) => document_id ?? []);
  if (new Set(ids).size === ids.length) return;
  throw invalidFields([{ field: 'documents', message: 'must not have an id twice' }]);
}

/** Gateways keep them in memory. */
function assertRoom(documents: readonly RegisteredDocument[]): void {
  const bytes = documents.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0);
  if (documents.length <= TRUSTED_DOCUMENTS_MAX && bytes <= TRUSTED_DOCUMENTS_MAX_BYTES) return;
  const most = `${String(TRUSTED_DOCUMENTS_MAX)} documents and ${String(TRUSTED_DOCUMENTS_MAX_BYTES)} bytes`;
  throw invalidFields([{ field: 'documents', message: `an application can have ${most} at most` }]);
}

/** Shown only, so a text that looks like an operation within another one does no harm. */
const FIRST_OPERATION = /(?:^|[\s}])(?:query|mutation|subscription)\s+([A-Za-z_]\w{0,99})/;

function named({ api_version, sha256, document_id, text }: RegisteredDocument): Named {
  return { api_version, sha256, document_id, name: FIRST_OPERATION.exec(text)?.[1] ?? null };
}

/** An application may have thousands. */
const RECORDED_MAX = 100;

function recorded(documents: readonly RegisteredDocument[]): DocumentName[] {
  return documents
    .slice(0, RECORDED_MAX)
    .map(({ api_version, sha256, document_id }) => ({ api_version, sha256, document_id }));
}

async function audit(
  query: Query,
  { account_id, application_id, name }: Application,
  by: Actor,
  details: Readonly<Record<string, unknown>>,
  change: Change | undefined,
): Promise<void> {
  const entry = { ...by, account_id, application_id, details: { name, ...details }, change };
  await recordAudit(query, { ...entry, action: 'application_documents_changed' });
}
