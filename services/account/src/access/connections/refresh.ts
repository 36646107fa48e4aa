import type { GrantAnswer, Refresh } from '@tollgate/contracts/grants';
import type { Actor } from '../../platform/audit/audit-log.ts';
import type { Query } from '../../platform/database/query.ts';
import { endConnection } from './end.ts';
import { refused, scopeOf } from './exchange.ts';
import type { Outcome } from './exchange.ts';
import {
  ACCESS_TOKEN_LIFESPAN_MIN_SEC,
  REPEATED_REFRESH_SEC,
  ROTATED_TOKENS_KEPT,
  ROTATED_TOKEN_KEPT_SEC,
} from './rules.ts';
import type { ConnectionLifetimes } from './rules.ts';
import {
  findRefreshToken,
  insertRefreshToken,
  lockConnectionOfClient,
  noteRotation,
  removeLongRotated,
} from './store.ts';

/**
 * Rotates a refresh token (RFC 6749, section 6; RFC 9700, section 4.14.2). The connection's lock decides between
 * concurrent refreshes, and between a refresh and the connection's end.
 */
export async function refreshConnection(
  query: Query,
  request: Refresh,
  { refreshTokenIdleSec }: Pick<ConnectionLifetimes, 'refreshTokenIdleSec'>,
  by: Actor,
): Promise<Outcome> {
  const connection = await lockConnectionOfClient(query, request.connection_client_id);
  if (
    connection?.status !== 'active' ||
    connection.acting_status !== 'active' ||
    connection.developer_blocked ||
    connection.acting_client_id !== request.client_id ||
    connection.is_forbidden ||
    connection.left_sec < ACCESS_TOKEN_LIFESPAN_MIN_SEC
  ) {
    return refused('invalid_grant');
  }
  const { application_id, resource, scope: granted } = connection;
  const token_hash = request.refresh_token_hash;
  const token = await findRefreshToken(query, {
    application_id,
    token_hash,
    repeatedSec: REPEATED_REFRESH_SEC,
  });
  // A token that was never issued tells nothing: anyone can invent one for a connection.
  if (token === undefined) return refused('invalid_grant');
  if (token.nonce !== null && !token.may_repeat) {
    const pending = [await endConnection(query, connection, 'refresh_token_reused', by)];
    return { ...refused('invalid_grant'), pending };
  }
  if (token.has_expired) return refused('invalid_grant');
  if (request.resource !== undefined && request.resource !== resource) return refused('invalid_target');
  const scope = request.scope ?? granted;
  if (!isPartOf(scope, granted)) return refused('invalid_scope');
  if (token.nonce === null) {
    const { nonce, successor_hash } = request;
    await removeLongRotated(query, {
      application_id,
      keptSec: ROTATED_TOKEN_KEPT_SEC,
      kept: ROTATED_TOKENS_KEPT,
    });
    await noteRotation(query, { token_hash, nonce, successor_hash });
    await insertRefreshToken(query, {
      application_id,
      token_hash: successor_hash,
      idleSec: refreshTokenIdleSec,
    });
  }
  const { client_id, account_id, revocation_epoch, acting_lifespan_sec, left_sec } = connection;
  const answer: GrantAnswer = {
    outcome: 'granted',
    client_id,
    application_id,
    account_id,
    revocation_epoch,
    token_lifespan_sec: Math.min(acting_lifespan_sec, left_sec),
    audience: resource,
    ...scopeOf(scope),
    nonce: token.nonce ?? request.nonce,
  };
  return { answer, pending: [] };
}

function isPartOf(scope: string, granted: string): boolean {
  const all = new Set(granted.split(' '));
  return scope.split(' ').every((each) => all.has(each));
}
