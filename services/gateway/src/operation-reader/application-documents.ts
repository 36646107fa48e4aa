import { LRUCache } from 'lru-cache';
import type { Manifest } from '@tollgate/contracts/documents-manifest';
import { trustedDocumentsSchema } from '@tollgate/contracts/trusted-documents';
import type { TrustedDocuments } from '@tollgate/contracts/trusted-documents';
import type { PrivateApi } from '@tollgate/http/private-api-client';
import { Problem } from '@tollgate/http/problem';
import type { StoredDocuments } from './stored-documents.ts';
import { createTrustedTexts } from './trusted-texts.ts';
import type { TrustedTexts } from './trusted-texts.ts';

type ApiVersion = 'v1' | 'v2';

/** Of an application's documents, account's revision or a later one. */
export type DocumentLimit = { applicationId: number; revision: number };

/** What is registered for an application, in one version of the API. */
type Registered = { texts: Manifest; trusted: TrustedTexts };

/** The documents that applications are limited to, as account knows them (docs/design/admission.md). */
export type ApplicationDocuments = {
  /** Null if they are known. @throws {Problem} service_unavailable, in the promise */
  load: (limit: DocumentLimit, requestId: string) => Promise<void> | null;
  /** @throws {Problem} service_unavailable if others have taken their memory meanwhile */
  of: (limit: DocumentLimit, apiVersion: ApiVersion) => StoredDocuments;
};

export type ApplicationDocumentsOptions = {
  account: Pick<PrivateApi, 'get'>;
  documentsOf: (registered: Registered, apiVersion: ApiVersion) => StoredDocuments;
  /** Of all texts. Default: 64 Mi characters. */
  maxLength?: number;
};

/** Each text is kept as it is, and its tokens' hash beside it. */
const MAX_LENGTH = 67_108_864;
/** Of an application and version: texts that aren't written as they are registered. */
const VARIANTS_MAX_LENGTH = 32_768;
/** What a document takes beside its text. */
const ENTRY_LENGTH = 1_024;

type Known = Record<ApiVersion, StoredDocuments> & {
  /** Those for which they hold: the one that was asked for, and the one that account had. */
  revisions: readonly number[];
  length: number;
};

export function createApplicationDocuments({
  account,
  documentsOf,
  maxLength = MAX_LENGTH,
}: ApplicationDocumentsOptions): ApplicationDocuments {
  const known = new LRUCache<number, Known>({
    maxSize: maxLength,
    sizeCalculation: ({ length }) => length,
  });
  const loading = new Map<string, Promise<void>>();

  function find({ applicationId, revision }: DocumentLimit): Known | undefined {
    const found = known.get(applicationId);
    return found?.revisions.includes(revision) === true ? found : undefined;
  }

  async function ask({ applicationId, revision }: DocumentLimit, requestId: string): Promise<void> {
    const path = `/private/trusted-documents/${String(applicationId)}`;
    const answer = await account.get(path, trustedDocumentsSchema, requestId);
    if (answer === null || answer.revision < revision) throw unknown(applicationId);
    const { documents } = answer;
    known.set(applicationId, {
      v2: documentsOf(await registeredIn(documents, 'v2'), 'v2'),
      v1: documentsOf(await registeredIn(documents, 'v1'), 'v1'),
      revisions: [revision, answer.revision],
      length: documents.reduce(
        (sum, { text }) => sum + text.length + ENTRY_LENGTH,
        ENTRY_LENGTH + 2 * VARIANTS_MAX_LENGTH,
      ),
    });
  }

  function load(limit: DocumentLimit, requestId: string): Promise<void> | null {
    if (find(limit) !== undefined) return null;
    const key = `${String(limit.applicationId)} ${String(limit.revision)}`;
    let asked = loading.get(key);
    if (asked === undefined) {
      asked = ask(limit, requestId).finally(() => loading.delete(key));
      loading.set(key, asked);
    }
    return asked;
  }

  return {
    load,
    of: (limit, apiVersion) => {
      const found = find(limit);
      if (found !== undefined) return found[apiVersion];
      // For the next operation on the same socket.
      load(limit, '')?.catch(() => undefined);
      throw unknown(limit.applicationId);
    },
  };
}

async function registeredIn(
  documents: TrustedDocuments['documents'],
  apiVersion: ApiVersion,
): Promise<Registered> {
  const ofVersion = documents.filter((document) => document.api_version === apiVersion);
  const texts = new Map(
    ofVersion.flatMap(({ sha256, document_id, text }) => [
      [sha256, text] as const,
      ...(document_id === null ? [] : [[document_id, text] as const]),
    ]),
  );
  return {
    texts,
    trusted: await createTrustedTexts(
      ofVersion.map(({ text }) => text),
      VARIANTS_MAX_LENGTH,
    ),
  };
}

function unknown(applicationId: number): Problem {
  const cause = new Error(`the documents of application ${String(applicationId)} are not known`);
  return new Problem('service_unavailable', { cause });
}
