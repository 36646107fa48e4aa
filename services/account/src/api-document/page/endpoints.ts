import type { RequestHandler } from 'express';
import { Problem } from '@tollgate/http/problem';
import { PAGE, PAGE_POLICY } from './page.ts';
import { loadPageFile, PAGE_FILES } from './page-files.ts';

/** `GET /api/docs`: 200, the API's document as a page to read and to try. It loads nothing from elsewhere. */
export const apiPageEndpoint: RequestHandler = (_req, res) => {
  res.set({ 'cache-control': 'no-cache', 'content-security-policy': PAGE_POLICY });
  res.type('html').send(PAGE);
};

/** `GET /api/docs/{file}`: 200, a file of the page, to be kept for good; 404 for any other name. */
export const apiPageFileEndpoint: RequestHandler = async (req, res) => {
  const { file } = req.params;
  if (!isPageFile(file)) throw new Problem('not_found');
  const { plain, gzipped } = await loadPageFile(file);
  res.set({ 'cache-control': 'public, max-age=31536000, immutable', vary: 'accept-encoding' });
  res.type(PAGE_FILES[file]);
  if (req.acceptsEncodings('gzip') === 'gzip') res.set('content-encoding', 'gzip').send(gzipped);
  else res.send(plain);
};

function isPageFile(name: unknown): name is keyof typeof PAGE_FILES {
  return typeof name === 'string' && Object.hasOwn(PAGE_FILES, name);
}
