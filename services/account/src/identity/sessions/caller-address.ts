import type { Request, RequestHandler } from 'express';
import type { AddressOf } from '@tollgate/http/error-handler';

const addresses = new WeakMap<Request, string>();

/**
 * Express middleware: notes where each request comes from, for readCallerAddress. Express' own `req.ip` takes a
 * port for a part of the address, and each connection for another caller.
 */
export function noteCallerAddress(addressOf: AddressOf): RequestHandler {
  return (req, _res, next) => {
    addresses.set(req, addressOf(req));
    next();
  };
}

/** What trusted proxies say of where a request comes from, else the connection's own address. */
export function readCallerAddress(req: Request): string {
  const address = addresses.get(req);
  if (address === undefined) throw new Error('the endpoint is not behind noteCallerAddress');
  // A caller that is gone by now has none.
  return address === '' ? 'unknown' : address;
}
