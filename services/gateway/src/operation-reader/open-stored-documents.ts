import type { Manifest } from '@tollgate/contracts/documents-manifest';
import type { PrivateApi } from '@tollgate/http/private-api-client';
import type { ComposeContext } from '@tollgate/server';
import type { Config } from '../config.ts';
import { createApplicationDocuments } from './application-documents.ts';
import type { ApplicationDocuments, DocumentLimit } from './application-documents.ts';
import { openManifest } from './documents-manifest.ts';
import type { ManifestSource } from './documents-manifest.ts';
import { gaugeByVersion } from './gauge-by-version.ts';
import { createLearnedTexts } from './learned-texts.ts';
import { createStoredDocuments } from './stored-documents.ts';
import type { StoredDocuments } from './stored-documents.ts';

/**
 * Of a caller; null if it isn't known.
 * @throws {Problem} service_unavailable if the documents that its application is limited to aren't known
 */
export type DocumentsOf = (caller: { documentLimit: DocumentLimit | null } | null) => StoredDocuments;

/** Each API version has documents of its own. */
export async function openStoredDocuments(
  { config, logger, registry }: Pick<ComposeContext<Config>, 'config' | 'logger' | 'registry'>,
  account: Pick<PrivateApi, 'get'>,
): Promise<{
  v2: DocumentsOf;
  v1: DocumentsOf;
  loadOfApplication: ApplicationDocuments['load'];
  close: () => void;
}> {
  const { APQ: apq } = config;
  const isTrusting = config.GRAPHQL_TRUSTED_DOCUMENTS === 'all';
  const open = async (apiVersion: 'v1' | 'v2', path: string | undefined): Promise<ManifestSource | null> =>
    path === undefined ? null : openManifest({ path, apiVersion, isTrusting, logger });
  const [v2, v1] = await Promise.all([
    open('v2', config.GRAPHQL_DOCUMENTS),
    open('v1', config.GRAPHQL_V1_DOCUMENTS),
  ]);
  gaugeByVersion(
    registry,
    { v2, v1 },
    {
      name: 'tollgate_documents_age_seconds',
      help: 'Time since the GraphQL documents were last read, or found unchanged; since the start if they never were',
      read: ({ ageSec }) => ageSec(),
    },
  );
  const ofAll = { v2: optionsOf(v2 ?? NONE), v1: optionsOf(v1 ?? NONE) };

  function optionsOf({ current, trusted }: Pick<ManifestSource, 'current' | 'trusted'>) {
    const textOf = (id: string) => current().get(id);
    return { apq, learned: createLearnedTexts(), textOf, trusting: isTrusting ? [trusted] : [] };
  }

  const ofApplications = createApplicationDocuments({
    account,
    documentsOf: ({ texts, trusted }, apiVersion) => {
      const { textOf, trusting, ...shared } = ofAll[apiVersion];
      return createStoredDocuments({
        ...shared,
        textOf: (id) => texts.get(id) ?? textOf(id),
        trusting: [...trusting, () => trusted],
      });
    },
  });

  function documentsOf(apiVersion: 'v1' | 'v2'): DocumentsOf {
    const documents = createStoredDocuments(ofAll[apiVersion]);
    return (caller) => {
      const limit = caller?.documentLimit ?? null;
      return limit === null ? documents : ofApplications.of(limit, apiVersion);
    };
  }

  return {
    v2: documentsOf('v2'),
    v1: documentsOf('v1'),
    loadOfApplication: ofApplications.load,
    close: () => {
      v2?.close();
      v1?.close();
    },
  };
}

const NO_DOCUMENTS: Manifest = new Map();
const NONE: Pick<ManifestSource, 'current' | 'trusted'> = {
  current: () => NO_DOCUMENTS,
  trusted: () => null,
};
