import type { Query } from '../../platform/database/query.ts';
import { isRegistered } from '../redirect-uris/redirect-uri.ts';

/** Requests wait for their user's answer for so long. */
const REQUEST_LIFETIME_SEC = 600;

export type AuthorizationRequest = {
  application_id: number;
  redirect_uri: string;
  state: string | null;
  scope: string;
  resource: string | null;
  code_challenge: string;
};

/** The application that asks; undefined for an unknown client, and for one that may not ask. */
export async function findAskingApplication(
  query: Query,
  clientId: string,
): Promise<{ application_id: number; redirect_uris: string[] } | undefined> {
  const rows = await query<{ application_id: number; redirect_uris: string[] }>(
    `SELECT application_id, redirect_uris FROM applications LEFT JOIN accounts AS developer USING (account_id)
     WHERE client_id = :clientId AND type = 'authorization' AND status = 'active'
       AND developer.blocked_at IS NULL`,
    { clientId },
  );
  return rows[0];
}

export async function insertRequest(
  query: Query,
  requestHash: Buffer,
  request: AuthorizationRequest,
): Promise<void> {
  await query(
    `INSERT INTO authorization_requests
       (request_hash, application_id, redirect_uri, state, scope, resource, code_challenge, expires_at)
     VALUES (:requestHash, :application_id, :redirect_uri, :state, :scope, :resource, :code_challenge,
       now() + ${String(REQUEST_LIFETIME_SEC)} * interval '1 second')`,
    { ...request, requestHash },
  );
}

export type AskedFor = AuthorizationRequest & {
  name: string;
  client_id: string;
  /** Of one whose client ID, as it says it, is the address of a document. */
  document_url: string | null;
  /** Null for one that registered itself. */
  developer: string | null;
  is_verified: boolean;
  redirect_uris: string[];
  expires_at: Date;
};

/** Undefined if it was answered, has expired, or its application may no longer ask, or not with this redirect URI. */
export async function findRequest(query: Query, requestHash: Buffer): Promise<AskedFor | undefined> {
  const rows = await query<AskedFor>(
    `SELECT request.application_id, redirect_uri, state, scope, resource, code_challenge, request.expires_at,
            application.name, application.client_id, document_url, application.redirect_uris,
            developer.name AS developer, application.verified_at IS NOT NULL AS is_verified
     FROM authorization_requests AS request
     JOIN applications AS application USING (application_id)
     LEFT JOIN accounts AS developer USING (account_id)
     LEFT JOIN client_registrations USING (application_id)
     WHERE request_hash = :requestHash AND request.expires_at > now() AND application.status = 'active'
       AND developer.blocked_at IS NULL`,
    { requestHash },
  );
  return rows.find(({ redirect_uri, redirect_uris }) => isRegistered(redirect_uri, redirect_uris));
}

/** Whether it was there: each request is answered once, and of two answers one gets the row. */
export async function takeRequest(query: Query, requestHash: Buffer): Promise<boolean> {
  const rows = await query(
    'DELETE FROM authorization_requests WHERE request_hash = :requestHash AND expires_at > now() RETURNING 1',
    { requestHash },
  );
  return rows.length > 0;
}

export async function insertCode(
  query: Query,
  code: AuthorizationRequest & {
    code_hash: string;
    account_id: number;
    session_id: number;
    lifetimeSec: number;
  },
): Promise<void> {
  await query(
    `INSERT INTO authorization_codes
       (code_hash, application_id, account_id, session_id, redirect_uri, scope, resource, code_challenge, expires_at)
     VALUES (:code_hash, :application_id, :account_id, :session_id, :redirect_uri, :scope, :resource, :code_challenge,
       now() + :lifetimeSec * interval '1 second')`,
    code,
  );
}

export type Code = Omit<AuthorizationRequest, 'state'> & {
  account_id: number;
  /** Null once the session in which the person consented has ended. */
  session_id: number | null;
  name: string;
  token_lifespan_sec: number;
  application_status: 'active' | 'revoked' | 'deleted';
  redirect_uris: string[];
  /** Whether an operator has blocked the account that the application belongs to. */
  developer_blocked: boolean;
};

/**
 * Uses the code up; undefined if it isn't the client's, has expired or was used. The application is locked against its
 * end, which then ends the connection too, or which this waits for.
 */
export async function consumeCode(
  query: Query,
  { client_id, code_hash }: { client_id: string; code_hash: string },
): Promise<Code | undefined> {
  const [application] = await query<{ application_id: number }>(
    'SELECT application_id FROM applications WHERE client_id = :client_id FOR SHARE',
    { client_id },
  );
  if (application === undefined) return undefined;
  const rows = await query<Code>(
    `UPDATE authorization_codes AS code SET used_at = now()
     FROM applications AS application
     WHERE code_hash = :code_hash AND code.application_id = :application_id AND used_at IS NULL
       AND expires_at > now() AND application.application_id = code.application_id
     RETURNING code.application_id, code.account_id, session_id, redirect_uri, scope, resource, code_challenge,
       application.name, application.token_lifespan_sec, application.status AS application_status,
       application.redirect_uris, EXISTS (SELECT FROM accounts AS developer
         WHERE developer.account_id = application.account_id AND developer.blocked_at IS NOT NULL) AS developer_blocked`,
    { code_hash, application_id: application.application_id },
  );
  return rows[0];
}

/** The code, if it is the client's and has become a connection. */
export async function findUsedCode(
  query: Query,
  { client_id, code_hash }: { client_id: string; code_hash: string },
): Promise<{ code_challenge: string; connection_client_id: string } | undefined> {
  const rows = await query<{ code_challenge: string; connection_client_id: string }>(
    `SELECT code_challenge, connection.client_id AS connection_client_id
     FROM authorization_codes AS code
     JOIN applications AS acting ON acting.application_id = code.application_id
     JOIN applications AS connection ON connection.application_id = code.connection_id
     WHERE code_hash = :code_hash AND acting.client_id = :client_id`,
    { client_id, code_hash },
  );
  return rows[0];
}

export async function noteConnection(
  query: Query,
  of: { code_hash: string; connection_id: number },
): Promise<void> {
  await query(
    'UPDATE authorization_codes SET connection_id = :connection_id WHERE code_hash = :code_hash',
    of,
  );
}
