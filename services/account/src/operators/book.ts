import { join } from 'node:path';
import { Router } from 'express';
import type { ErrorRequestHandler, RequestHandler } from 'express';
import { Problem } from '@tollgate/http/problem';
import { bookRouter } from '../console/book.ts';
import { escaped } from '../console/brand.ts';

/**
 * The operators' book at /operator/docs, for requests that pass `session`; others get what follows it. `books`: the
 * built ones.
 */
export function operatorsBook(
  books: string,
  { productName, session }: { productName: string; session: RequestHandler },
): Router {
  const router = Router({ caseSensitive: true, strict: true });
  const base = '/operator/docs';
  router.use(base, session);
  router.use(
    bookRouter(base, {
      directory: join(books, 'operators'),
      own: (html) => html.replaceAll('%PRODUCT_NAME%', () => escaped(productName)),
    }),
  );
  router.use(withoutSession);
  return router;
}

const withoutSession: ErrorRequestHandler = (error, _req, _res, next) => {
  next(error instanceof Problem && error.code === 'unauthorized' ? undefined : error);
};
