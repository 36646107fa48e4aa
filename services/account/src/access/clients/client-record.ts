import type { ClientAnswer, ClientRecord, ManualToken } from '@tollgate/contracts/client-record';
import type { Query } from '../../platform/database/query.ts';
import { LIVE } from '../applications/live-tokens.ts';

/** One statement, so one snapshot: auth treats manual tokens that aren't listed as dead. */
const CLIENT_SQL = `
  SELECT client_id, application_id, account_id, status, token_lifespan_sec, revocation_epoch,
         CASE WHEN type = 'authorization'
           THEN CASE WHEN public_client THEN 'public' ELSE 'confidential' END END AS authorization_client,
         pepper_id, hmac, expires_at,
         (SELECT coalesce(json_agg(json_build_object(
                   'token_hash', token_hash,
                   'iat', CAST(extract(epoch FROM issued_at) AS bigint),
                   'exp', CAST(extract(epoch FROM access_tokens.expires_at) AS bigint),
                   'epoch', access_tokens.revocation_epoch)), '[]')
          FROM access_tokens WHERE access_tokens.application_id = applications.application_id
            AND ${LIVE}) AS manual_tokens
  FROM applications
  LEFT JOIN LATERAL (
    SELECT secret_id, pepper_id, hmac, expires_at FROM application_secrets AS secret
    WHERE secret.application_id = applications.application_id
      AND (expires_at IS NULL OR expires_at > :now)
    ORDER BY secret_id DESC LIMIT 2
  ) AS live ON true
  WHERE client_id = :client_id AND status <> 'deleted'
  ORDER BY secret_id DESC`;

type ClientRow = Omit<ClientRecord, 'secrets' | 'authorization'> & {
  authorization_client: ClientRecord['authorization'] | null;
} & { manual_tokens: ManualToken[] } & (
    { pepper_id: string; hmac: string; expires_at: Date | null } | { pepper_id: null }
  );

/** Secrets come newest first. Undefined for an unknown or deleted client. */
export async function findClient(
  query: Query,
  clientId: string,
  now: Date,
): Promise<ClientAnswer | undefined> {
  const rows = await query<ClientRow>(CLIENT_SQL, { client_id: clientId, now }, 'client');
  const [client] = rows;
  if (client === undefined) return undefined;
  const { client_id, application_id, account_id, status, token_lifespan_sec, revocation_epoch } = client;
  const { authorization_client: authorization } = client;
  const secrets = rows.flatMap((row) =>
    row.pepper_id === null
      ? []
      : [{ pepper_id: row.pepper_id, hmac: row.hmac, expires_at: row.expires_at?.toISOString() ?? null }],
  );
  return {
    client_id,
    application_id,
    account_id,
    status,
    ...(authorization && { authorization }),
    token_lifespan_sec,
    revocation_epoch,
    secrets,
    manual_tokens: client.manual_tokens,
  };
}
