import { createHash } from 'node:crypto';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import type { RequestHandler } from 'express';

/** Brotli's default would take a second for a book, and saves a tenth. */
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } };

type Encoding = 'br' | 'gzip' | 'identity';

/**
 * A page that is the same for everyone, under its policy; read and compressed when it is first asked for, and
 * revalidated before each use.
 */
export function pageEndpoint(page: () => string, policy: string, type = 'html'): RequestHandler {
  let prepared: { digest: string; bodies: Record<Encoding, Buffer> } | undefined;
  return (req, res) => {
    prepared ??= prepare(page());
    const { digest, bodies } = prepared;
    const encoding = encodingOf(req.acceptsEncodings('br', 'gzip', 'identity'));
    res.vary('accept-encoding');
    res.set({
      'cache-control': 'no-cache',
      'content-security-policy': policy,
      etag: `"${digest}-${encoding}"`,
    });
    if (req.fresh && res.statusCode === 200) {
      res.status(304).end();
      return;
    }
    if (encoding !== 'identity') res.set('content-encoding', encoding);
    res.type(type).send(bodies[encoding]);
  };
}

function prepare(page: string): { digest: string; bodies: Record<Encoding, Buffer> } {
  return {
    digest: createHash('sha256').update(page).digest('base64url'),
    bodies: { br: brotliCompressSync(page, BROTLI), gzip: gzipSync(page), identity: Buffer.from(page) },
  };
}

function encodingOf(accepted: string | false): Encoding {
  return accepted === 'br' || accepted === 'gzip' ? accepted : 'identity';
}

/** A person gets the page, which says what is wrong (by default that the address is); everyone else the problem. */
export function forPeople(page: RequestHandler, status = 404): RequestHandler {
  return (req, res, next) => {
    res.vary('accept');
    if (req.accepts(['json', 'html']) !== 'html') {
      next();
      return;
    }
    res.status(status);
    page(req, res, next);
  };
}
