import type { ClientRecord } from '@tollgate/contracts/client-record';
import type { Query } from '../database/query.ts';

/** The client, once per live secret: the newest two. An application without any is a client all the same. */
const CLIENT_SQL = `
  SELECT client_id, application_id, account_id, status, token_lifespan_sec, revocation_epoch,
         pepper_id, hmac, expires_at
  FROM applications
  LEFT JOIN LATERAL (
    SELECT secret_id, pepper_id, hmac, expires_at FROM application_secrets AS secret
    WHERE secret.application_id = applications.application_id
      AND (expires_at IS NULL OR expires_at > :now)
    ORDER BY secret_id DESC LIMIT 2
  ) AS live ON true
  WHERE client_id = :client_id AND status <> 'deleted'
  ORDER BY secret_id DESC`;

type ClientRow = Omit<ClientRecord, 'secrets'> &
  ({ pepper_id: string; hmac: string; expires_at: Date | null } | { pepper_id: null });

/** An OAuth client with its live secrets, newest first; undefined where it is unknown or deleted. */
export async function findClient(
  query: Query,
  clientId: string,
  now: Date,
): Promise<ClientRecord | undefined> {
  const rows = await query<ClientRow>(CLIENT_SQL, { client_id: clientId, now });
  const [client] = rows;
  if (client === undefined) return undefined;
  const { client_id, application_id, account_id, status, token_lifespan_sec, revocation_epoch } = client;
  const secrets = rows.flatMap((row) =>
    row.pepper_id === null
      ? []
      : [{ pepper_id: row.pepper_id, hmac: row.hmac, expires_at: row.expires_at?.toISOString() ?? null }],
  );
  return { client_id, application_id, account_id, status, token_lifespan_sec, revocation_epoch, secrets };
}
