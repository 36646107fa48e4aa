import type { Request, RequestHandler, Response } from 'express';
import { addressGroup } from '@tollgate/http/address-group';
import type { AddressOf } from '@tollgate/http/error-handler';
import { REQUEST_ID_HEADER } from '@tollgate/log/request-id';

/** Limits count by `addressGroup`. */
export type Caller = { address: string; addressGroup: string; request_id: string };

const addresses = new WeakMap<Request, string>();

/** Express' own `req.ip` takes a port for a part of the address, so that each connection looks like another caller. */
export function noteCallerAddress(addressOf: AddressOf): RequestHandler {
  return (req, _res, next) => {
    addresses.set(req, addressOf(req));
    next();
  };
}

/** The address that trusted proxies report, else the connection's. */
export function callerOf(req: Request, res: Response): Caller {
  const address = readCallerAddress(req);
  return {
    address,
    addressGroup: addressGroup(address),
    request_id: res.get(REQUEST_ID_HEADER) ?? 'unknown',
  };
}

function readCallerAddress(req: Request): string {
  const address = addresses.get(req);
  if (address === undefined) throw new Error('the endpoint is not behind noteCallerAddress');
  // Empty once the caller has disconnected.
  return address === '' ? 'unknown' : address;
}
