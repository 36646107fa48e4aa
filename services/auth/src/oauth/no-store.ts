import type { RequestHandler } from 'express';

/** No answer of an OAuth endpoint may be cached, errors included (RFC 6749, sections 5.1 and 5.2). */
export const noStore: RequestHandler = (_req, res, next) => {
  res.set({ 'cache-control': 'no-store', pragma: 'no-cache' });
  next();
};
