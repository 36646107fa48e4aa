import type { RequestHandler } from 'express';
import sirv from 'sirv';
import { Problem } from '@tollgate/http/problem';

const PRECOMPRESSED = { brotli: true, gzip: true, etag: true };

/** A directory of a build, whose files may have compressed ones beside them. */
export function builtFiles(directory: string): RequestHandler {
  return sirv(directory, PRECOMPRESSED);
}

/** The same for files whose names change with their content: browsers keep them for a year. */
export function hashedFiles(directory: string): RequestHandler {
  return sirv(directory, { ...PRECOMPRESSED, maxAge: 31_536_000, immutable: true });
}

/** In place of pages without a build. @throws {Problem} (the returned handler) service_unavailable */
export function notBuilt(detail: string): RequestHandler {
  return () => {
    throw new Problem('service_unavailable', { detail });
  };
}
