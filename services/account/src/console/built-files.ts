import { statSync } from 'node:fs';
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

/**
 * What `make` makes of a build, of which `file` is one, and anew when another takes its place: account may start before
 * it is there. Null without one.
 */
export function ofBuild<T>(file: string, make: () => T): () => T | null {
  let made: T | null = null;
  let builtMs: number | undefined;
  return () => {
    const lastBuiltMs = statSync(file, { throwIfNoEntry: false })?.mtimeMs;
    // None while one takes the place of another.
    if (lastBuiltMs !== undefined && lastBuiltMs !== builtMs) {
      made = make();
      builtMs = lastBuiltMs;
    }
    return made;
  };
}

/** In place of pages without a build. @throws {Problem} (the returned handler) service_unavailable */
export function notBuilt(detail: string): RequestHandler {
  return () => {
    throw new Problem('service_unavailable', { detail });
  };
}
