import { invalidFields } from '@tollgate/http/invalid-fields';
import { NoPublicAddressError } from '../../platform/outgoing/connector.ts';
import { ProviderFault } from '../../oidc/provider-fault.ts';
import type { RelyingParties } from './relying-parties.ts';

/** Reads what the issuer says of itself, as each sign-in will. @throws {Problem} invalid_request for the issuer */
export async function checkProvider(relyingParties: RelyingParties, issuer: string): Promise<void> {
  const fault = relyingParties.addressFault(issuer);
  if (fault !== undefined) throw invalidFields([{ field: 'issuer', message: fault }]);
  try {
    await relyingParties.tried(issuer).metadata();
  } catch (error) {
    if (!(error instanceof ProviderFault)) throw error;
    throw invalidFields([{ field: 'issuer', message: faultOf(error) }]);
  }
}

/** Without what would tell a stranger about servers of the operator's network. */
export function faultOf({ origin, message, code }: ProviderFault): string {
  if (origin instanceof NoPublicAddressError) return 'has no public address';
  const isOther = message.includes('by another issuer') || code === 'OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED';
  if (isOther) return 'calls itself by another issuer in its metadata';
  if (message.includes('over TLS')) return 'has no page to sign in at, or none over TLS';
  if (message.includes('an address of the identity provider')) return message;
  if (message.includes('too long')) return 'answers with more than 64 KiB';
  if (code === 'OAUTH_TIMEOUT') return 'does not answer within 5 seconds';
  return 'does not answer as an OpenID Connect provider at /.well-known/openid-configuration';
}
