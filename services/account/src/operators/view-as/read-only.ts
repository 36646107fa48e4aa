import type { RequestHandler } from 'express';
import { Problem } from '@tollgate/http/problem';
import { isUnsafe } from '../../identity/sessions/same-origin.ts';

/** Where the operations of customers answer an operator who views as one. */
export const VIEW_PATH = '/operator/api/view';

/** Before all operations below {@link VIEW_PATH}: whatever is added there, a view changes nothing but its own end. */
export const refuseChanges: RequestHandler = (req, _res, next) => {
  const endsView = req.method === 'DELETE' && req.path === '/';
  if (isUnsafe(req) && !endsView) throw new Problem('read_only');
  next();
};

/** After them: what a view may not read. */
export const refuseOthers: RequestHandler = () => {
  throw new Problem('read_only');
};
