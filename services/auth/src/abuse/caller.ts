import { addressGroup } from '@tollgate/http/address-group';
import type { AddressOf } from '@tollgate/http/error-handler';
import type { HttpRequest } from '@tollgate/plain-http/message';

export type Caller = {
  requestId: string;
  /** For the audit log; `unknown` if the caller has disconnected. */
  address: string;
  addressGroup: string;
};

export type CallerOf = (req: HttpRequest, requestId: string) => Caller;

export function createCallerOf(addressOf: AddressOf): CallerOf {
  return (req, requestId) => {
    const address = addressOf(req);
    return { requestId, address: address === '' ? 'unknown' : address, addressGroup: addressGroup(address) };
  };
}
