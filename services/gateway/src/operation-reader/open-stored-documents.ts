import type { ComposeContext } from '@tollgate/server';
import type { Config } from '../config.ts';
import { openManifest } from './documents-manifest.ts';
import type { Manifest, ManifestSource } from './documents-manifest.ts';
import { gaugeByVersion } from './gauge-by-version.ts';
import { createStoredDocuments } from './stored-documents.ts';
import type { StoredDocuments } from './stored-documents.ts';

/** Each API version has documents of its own. */
export async function openStoredDocuments({
  config,
  logger,
  registry,
}: Pick<ComposeContext<Config>, 'config' | 'logger' | 'registry'>): Promise<{
  v2: StoredDocuments;
  v1: StoredDocuments;
  close: () => void;
}> {
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
  return {
    v2: createStoredDocuments({ apq: config.APQ, isTrusting, manifest: v2 ?? NONE }),
    v1: createStoredDocuments({ apq: config.APQ, isTrusting, manifest: v1 ?? NONE }),
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
