import { parseManifest } from '@tollgate/contracts/documents-manifest';
import type { Manifest } from '@tollgate/contracts/documents-manifest';
import type { Logger } from '@tollgate/log';
import { fileText } from './file-text.ts';
import { tellingOnce } from './telling-once.ts';
import { MANIFEST_VARIANTS_MAX_LENGTH, createTrustedTexts } from './trusted-texts.ts';
import type { TrustedTexts } from './trusted-texts.ts';

const RELOAD_MS = 30_000;

export type ManifestSource = {
  current: () => Manifest;
  /** Of the manifest; null while none has been read. */
  trusted: () => TrustedTexts | null;
  /** Seconds since the file was last read, or found unchanged; since the start if it never was. */
  ageSec: () => number;
  close: () => void;
};

export type ManifestOptions = {
  /** Of the file. */
  path: string;
  apiVersion: 'v1' | 'v2';
  /** Whether only its documents run. */
  isTrusting: boolean;
  logger: Pick<Logger, 'info' | 'error'>;
  /** Default: 30 s. */
  reloadMs?: number;
};

/** Reads the file, and again every 30 s. One that can't be used is logged, and the one before stays in use. */
export async function openManifest(options: ManifestOptions): Promise<ManifestSource> {
  const { path, apiVersion, isTrusting, logger, reloadMs = RELOAD_MS } = options;
  let manifest: Manifest = new Map();
  let trusted: TrustedTexts | null = null;
  const readText = fileText(path);
  let read: string | undefined;
  const { run: load, ageSec } = tellingOnce(
    async () => {
      const text = await readText();
      if (text === read) return;
      const next = parseManifest(text);
      if (isTrusting) trusted = await createTrustedTexts(next.values(), MANIFEST_VARIANTS_MAX_LENGTH);
      manifest = next;
      read = text;
      logger.info({ api_version: apiVersion, documents: manifest.size }, 'the GraphQL documents are read');
    },
    (error) => {
      logger.error({ api_version: apiVersion, err: error }, 'the GraphQL documents cannot be used');
    },
  );

  await load();
  const timer = setInterval(() => void load(), reloadMs).unref();
  return {
    current: () => manifest,
    trusted: () => trusted,
    ageSec,
    close: () => {
      clearInterval(timer);
    },
  };
}
