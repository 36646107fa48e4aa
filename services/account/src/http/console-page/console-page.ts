import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Router } from 'express';
import type { RequestHandler } from 'express';
import sirv from 'sirv';
import { CONSOLE_PATHS } from '@tollgate/console/paths';
import { methodNotAllowed } from '@tollgate/http/error-handler';
import { Problem } from '@tollgate/http/problem';
import type { PublicAddresses } from '../public-addresses/endpoint.ts';

const PRECOMPRESSED = { brotli: true, gzip: true, etag: true };
const KEPT = { maxAge: 31_536_000, immutable: true };

/** React Aria adds this style for touch screens; only its hash is allowed. */
const PRESSABLE_STYLE = "'sha256-38RhXrc7EdReTKsOm23ZPOCUgniTUUcjky8QOOrQx6o='";

/** The policy of the pages. The explorer calls the data endpoint, and Monaco's workers are files of ours. */
function policyFor(streamingUrl: string | null): string {
  const dataOrigin = streamingUrl === null ? '' : new URL(streamingUrl).origin;
  const data = dataOrigin === '' ? '' : ` ${dataOrigin} ${dataOrigin.replace(/^http/, 'ws')}`;
  return [
    "default-src 'none'",
    "script-src 'self'",
    "worker-src 'self'",
    `style-src 'self' ${PRESSABLE_STYLE}`,
    "font-src 'self'",
    "img-src 'self'",
    `connect-src 'self'${data}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

/** Caches only hashed assets, for a year. @throws {Problem} service_unavailable if `directory` holds no build. */
export function consolePage(
  directory: string,
  { streamingUrl }: Pick<PublicAddresses, 'streamingUrl'>,
): Router {
  const router = Router({ caseSensitive: true, strict: true });
  const isBuilt = existsSync(join(directory, 'index.html'));
  const page = isBuilt ? pageEndpoint(directory, policyFor(streamingUrl)) : notBuilt;
  for (const path of CONSOLE_PATHS) router.route(path).get(page).all(methodNotAllowed('GET', 'HEAD'));
  if (isBuilt) router.use('/user/assets', sirv(join(directory, 'assets'), { ...PRECOMPRESSED, ...KEPT }));
  return router;
}

function pageEndpoint(directory: string, policy: string): RequestHandler {
  const serve = sirv(directory, PRECOMPRESSED);
  return (req, res, next) => {
    res.set({ 'cache-control': 'no-cache', 'content-security-policy': policy });
    req.url = '/index.html';
    serve(req, res, next);
  };
}

const notBuilt: RequestHandler = () => {
  throw new Problem('service_unavailable', { detail: 'The web interface is not built.' });
};
