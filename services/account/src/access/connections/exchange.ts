import { DATA_SCOPE } from '@tollgate/contracts/resource-servers';
import type { CodeExchange, GrantAnswer } from '@tollgate/contracts/grants';
import { recordAudit } from '../../platform/audit/audit-log.ts';
import type { Actor } from '../../platform/audit/audit-log.ts';
import type { Query } from '../../platform/database/query.ts';
import { isRegistered, redirectHost } from '../redirect-uris/redirect-uri.ts';
import { consumeCode, findUsedCode, noteConnection } from '../authorization/store.ts';
import { isForbiddenByTeam } from '../authorization/team-rule.ts';
import type { NewClientChange } from '../client-changes/store.ts';
import { endConnection } from './end.ts';
import { MAX_CONNECTIONS_PER_APPLICATION } from './rules.ts';
import type { ConnectionLifetimes } from './rules.ts';
import { insertConnection, insertRefreshToken, lockConnectionOfClient, lockSurplus } from './store.ts';

export type Outcome = { answer: GrantAnswer; pending: NewClientChange[] };

/**
 * Makes a code into a connection with its first refresh token (RFC 6749, section 4.1.3). The code is used up whatever is
 * wrong with the request, except the client: an intercepted code is tried once.
 */
export async function exchangeCode(
  query: Query,
  request: CodeExchange,
  { refreshTokenIdleSec, connectionSec }: ConnectionLifetimes,
  by: Actor,
): Promise<Outcome> {
  const { client_id, code_hash } = request;
  const code = await consumeCode(query, { client_id, code_hash });
  if (code === undefined) return refuseUsedCode(query, request, by);
  const { redirect_uri, code_challenge, resource } = code;
  if (
    code.application_status !== 'active' ||
    code.developer_blocked ||
    !isRegistered(redirect_uri, code.redirect_uris) ||
    code.session_id === null ||
    redirect_uri !== request.redirect_uri ||
    code_challenge !== request.code_challenge ||
    (await isForbiddenByTeam(query, code.account_id, true))
  ) {
    return refused('invalid_grant');
  }
  if (request.resource !== undefined && request.resource !== resource) return refused('invalid_target');
  const { account_id, application_id: client_application_id, name, token_lifespan_sec } = code;
  const { application_id, revocation_epoch } = await insertConnection(query, {
    account_id,
    client_id: request.connection_client_id,
    name,
    token_lifespan_sec,
    client_application_id,
    scope: code.scope,
    resource,
    redirect_host: redirectHost(redirect_uri),
    lifetimeSec: connectionSec,
  });
  await insertRefreshToken(query, {
    application_id,
    token_hash: request.refresh_token_hash,
    idleSec: refreshTokenIdleSec,
  });
  await noteConnection(query, { code_hash, connection_id: application_id });
  const details = { name, client_id };
  await recordAudit(query, { ...by, application_id, account_id, action: 'connection_made', details });
  const pending: NewClientChange[] = [];
  const surplus = { account_id, client_application_id, kept: MAX_CONNECTIONS_PER_APPLICATION };
  for (const oldest of await lockSurplus(query, surplus)) {
    pending.push(await endConnection(query, oldest, 'too_many', by));
  }
  const answer: GrantAnswer = {
    outcome: 'granted',
    client_id: request.connection_client_id,
    application_id,
    account_id,
    revocation_epoch,
    token_lifespan_sec: Math.min(token_lifespan_sec, connectionSec),
    audience: resource,
    ...scopeOf(code.scope),
    nonce: null,
  };
  return { answer, pending };
}

/**
 * Two parties have the code and its verifier, and it isn't known which one the tokens went to, so they end. Without the
 * verifier it proves nothing: a reader of a log could otherwise end what the code became.
 */
async function refuseUsedCode(query: Query, request: CodeExchange, by: Actor): Promise<Outcome> {
  const used = await findUsedCode(query, request);
  if (used === undefined || used.code_challenge !== request.code_challenge) return refused('invalid_grant');
  const connection = await lockConnectionOfClient(query, used.connection_client_id);
  if (connection?.status !== 'active') return refused('invalid_grant');
  return {
    ...refused('invalid_grant'),
    pending: [await endConnection(query, connection, 'code_reused', by)],
  };
}

/** Absent for what an earlier version of auth issues. */
export function scopeOf(scope: string): { scope?: string } {
  return scope === DATA_SCOPE ? {} : { scope };
}

export function refused(outcome: 'invalid_grant' | 'invalid_target' | 'invalid_scope'): Outcome {
  return { answer: { outcome }, pending: [] };
}
