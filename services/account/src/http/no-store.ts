import type { RequestHandler } from 'express';

/** Responses to operators and the console can hold secrets, and change. */
export const noStore: RequestHandler = (_req, res, next) => {
  res.set('cache-control', 'no-store');
  next();
};
