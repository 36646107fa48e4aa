import type { ComposeContext } from '@tollgate/server';
import type { Config } from '../config.ts';
import { openManifest } from './documents-manifest.ts';
import { createStoredDocuments } from './stored-documents.ts';
import type { StoredDocuments } from './stored-documents.ts';

/** Each API version has documents of its own. */
export async function openStoredDocuments({
  config,
  logger,
}: Pick<ComposeContext<Config>, 'config' | 'logger'>): Promise<{
  v2: StoredDocuments;
  v1: StoredDocuments;
  close: () => void;
}> {
  const [v2, v1] = await Promise.all([
    openManifest({ path: config.GRAPHQL_DOCUMENTS, apiVersion: 'v2', logger }),
    openManifest({ path: config.GRAPHQL_V1_DOCUMENTS, apiVersion: 'v1', logger }),
  ]);
  return {
    v2: createStoredDocuments({ apq: config.APQ, manifest: v2 }),
    v1: createStoredDocuments({ apq: config.APQ, manifest: v1 }),
    close: () => {
      v2.close();
      v1.close();
    },
  };
}
