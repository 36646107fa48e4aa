import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Router } from 'express';
import type { RequestHandler } from 'express';
import { Problem } from '@tollgate/http/problem';
import { brandedPage } from '../console/brand.ts';
import type { Brand } from '../console/brand.ts';
import { hashedFiles, ofBuild } from '../console/built-files.ts';
import { PRESSABLE_STYLE } from '../console/console-page.ts';

/** Nothing of another origin, and nothing inline. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  `style-src 'self' ${PRESSABLE_STYLE}`,
  "font-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const PAGES = /^\/operator(?:\/|$)/;

/**
 * The pages of the operators' console, at every path below /operator, and of a view of a customer, below
 * /operator/view: each asks for the session itself, and without one shows the sign-in. Programs get 401 there. `directory`: the build of the web interface.
 */
export function operatorPage(directory: string, { productName }: Pick<Brand, 'productName'>): Router {
  const router = Router({ caseSensitive: true, strict: true });
  const build = join(directory, 'operator');
  const built = ofBuild(join(build, 'operator.html'), () => {
    const files = Router({ caseSensitive: true, strict: true });
    files.use('/operator/assets', hashedFiles(join(build, 'assets')));
    const pageOf = (name: string) => forPeople(page(readFileSync(join(build, name), 'utf8'), productName));
    files.get(/^\/operator\/view(?:\/|$)/, pageOf('operator-view.html'));
    files.get(/^\/operator(?:\/|$)(?!assets\/|api(?:\/|$))/, pageOf('operator.html'));
    return files;
  });
  router.use((req, res, next) => {
    const files = PAGES.test(req.path) ? built() : null;
    if (files === null) next();
    else files(req, res, next);
  });
  router.use('/operator', unauthorized);
  return router;
}

function forPeople(answer: RequestHandler): RequestHandler {
  return (req, res, next) => {
    res.vary('accept');
    if (req.accepts(['json', 'html']) === 'html') answer(req, res, next);
    else next();
  };
}

function page(html: string, productName: string): RequestHandler {
  const brand = { productName, logoPath: undefined, accentColor: undefined, docsUrl: undefined };
  const own = brandedPage(html, { ...brand, supportUrl: undefined });
  const etag = `"${createHash('sha256').update(own).digest('base64url')}"`;
  return (req, res) => {
    res.set({ 'cache-control': 'no-store', 'content-security-policy': POLICY, etag });
    res.type('html').send(own);
  };
}

const unauthorized: RequestHandler = () => {
  throw new Problem('unauthorized');
};
