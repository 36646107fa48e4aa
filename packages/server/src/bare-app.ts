import express from 'express';
import type { Express } from 'express';
import type { TrustsAddress } from '@tollgate/http/caller-address';

/**
 * An Express app that doesn't name itself and takes paths literally. `req.host` is X-Forwarded-Host of proxies that
 * `trusts` accepts. Use addressOf in place of `req.ip`, which takes a port for part of the address.
 */
export function bareApp(trusts: TrustsAddress = () => false): Express {
  const app = express();
  app.disable('x-powered-by').disable('etag').enable('strict routing').enable('case sensitive routing');
  return app.set('trust proxy', trusts);
}
