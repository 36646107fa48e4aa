import express from 'express';
import type { Express } from 'express';
import type { TrustsAddress } from '@tollgate/http/caller-address';

/**
 * An Express app that doesn't name itself and takes paths literally. `req.host` follows X-Forwarded-Host where
 * `trusts` says so; a caller's address comes from ComposeContext's addressOf, as Express' takes a port for part of it.
 */
export function bareApp(trusts: TrustsAddress = () => false): Express {
  const app = express();
  app.disable('x-powered-by').disable('etag').enable('strict routing').enable('case sensitive routing');
  return app.set('trust proxy', trusts);
}
