import type { ActiveToken } from '@tollgate/contracts/introspection';

type Owner = {
  accountId: number;
  applicationId: number;
  /** UUID. */
  clientId: string;
  lifespanSec: number;
  /** Of a token that a person granted by authorization. */
  grant: Pick<ActiveToken, 'via' | 'aud' | 'scope'>;
  /** When the token was issued, in seconds of the epoch; now by default. */
  iat: number;
};

/** What auth states of an active token (RFC 7662), for suites in which it is imitated. */
export function activeToken({
  accountId = 7,
  applicationId = 3,
  clientId = '6f1f6d5e-5d2a-4f0b-9c0e-0a4b1c2d3e4f',
  lifespanSec = 3_600,
  grant = { scope: 'api' },
  iat = Math.floor(Date.now() / 1_000),
}: Partial<Owner> = {}): ActiveToken {
  const exp = iat + lifespanSec;
  return {
    active: true,
    client_id: clientId,
    sub: String(accountId),
    token_type: 'bearer',
    exp,
    iat,
    account_id: accountId,
    application_id: applicationId,
    expires_in_ms: Math.max(exp * 1_000 - Date.now(), 1),
    revocation_epoch: 0,
    ...grant,
  };
}
