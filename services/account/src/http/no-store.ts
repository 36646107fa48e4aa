import type { RequestHandler } from 'express';

/** No answer of operators and of the console may be kept: some hold a secret, all of them change. */
export const noStore: RequestHandler = (_req, res, next) => {
  res.set('cache-control', 'no-store');
  next();
};
