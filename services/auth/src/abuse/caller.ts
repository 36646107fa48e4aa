import type { IncomingMessage } from 'node:http';
import { addressGroup } from '@tollgate/http/address-group';
import type { AddressOf } from '@tollgate/http/error-handler';

/** Where an attempt to authenticate comes from. */
export type Caller = {
  requestId: string;
  /** Where it came from, as the audit log is told; `unknown` where the caller is gone by now. */
  address: string;
  /** What attempts are counted by: see @tollgate/http/address-group. */
  addressGroup: string;
};

export type CallerOf = (req: IncomingMessage, requestId: string) => Caller;

/** The caller of a request. Its address is what trusted proxies say of it, else the connection's own. */
export function createCallerOf(addressOf: AddressOf): CallerOf {
  return (req, requestId) => {
    const address = addressOf(req);
    return { requestId, address: address === '' ? 'unknown' : address, addressGroup: addressGroup(address) };
  };
}
