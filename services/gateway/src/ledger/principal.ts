import type { ActiveToken } from '@tollgate/contracts/introspection';
import type { PayerEntitlement } from '../pipeline/entitle/entitle.ts';
import type { CallerIds } from '../pipeline/forward/request/request-fields.ts';

/** What a call is made and charged with: its active access token, and the payer entitlement of the token's account. */
export type Principal = { token: ActiveToken; payer: PayerEntitlement };

export function callerIds({ token, payer }: Principal): CallerIds {
  return { accountId: token.account_id, payerId: payer.payerId, applicationId: token.application_id };
}
