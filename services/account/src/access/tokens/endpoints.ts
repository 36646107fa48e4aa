import type { RequestHandler } from 'express';
import type { Access } from '../applications/access.ts';
import { bodyOf } from '../../http/input/json-body.ts';
import { cutPage, lookAhead, queryOf } from '../../http/input/page.ts';
import { accountTokenListSchema, newTokenSchema, tokenIdOf, tokenListSchema } from './input.ts';
import type { Token, Tokens } from './tokens.ts';

/**
 * Manual tokens, for operators and for the owner (`/api/console`, without `/accounts/{account_id}`). 404
 * `not_found` also for a deleted application and, to an owner, another account's; 400 `invalid_request`; 401;
 * 503 if Postgres is unavailable.
 */

/**
 * `POST …/applications/{application_id}/tokens` with `{name}`: 201 with `access_token`, and with `delivered`:
 * whether auth knows the token within a second. 409 `application_revoked`, `token_limit_reached`.
 */
export function issueTokenEndpoint({ issue }: Pick<Tokens, 'issue'>, access: Access): RequestHandler {
  return async (req, res) => {
    const { name } = bodyOf(req, newTokenSchema);
    const wanted = { ...access.applicationOf(req, res), name };
    const { token, access_token, delivered } = await issue(wanted, access.actorOf(req, res));
    res.status(201).json({ ...answer(token), access_token, delivered });
  };
}

/**
 * `GET …/applications/{application_id}/tokens?limit=50&cursor=…&status=Active&search=…`: 200 `{tokens,
 * next_cursor}`, newest first; `limit` is 1 to 200, `next_cursor` null at the end.
 */
export function tokensOfApplicationEndpoint(
  { ofApplication }: Pick<Tokens, 'ofApplication'>,
  access: Access,
): RequestHandler {
  return async (req, res) => {
    const wanted = queryOf(req, tokenListSchema);
    const key = access.applicationOf(req, res);
    const { status = null, search = null } = wanted;
    const found = await ofApplication(key, { ...lookAhead(wanted), status, search });
    const { rows, next_cursor } = cutPage(found, wanted, ({ token_id }) => token_id);
    res.json({ tokens: rows.map(answer), next_cursor });
  };
}

/**
 * `GET …/accounts/{account_id}/tokens?application_id=…`: the same for all applications of the account or one
 * of them, each with `application_name`.
 */
export function tokensOfAccountEndpoint(
  { ofAccount }: Pick<Tokens, 'ofAccount'>,
  access: Access,
): RequestHandler {
  return async (req, res) => {
    const wanted = queryOf(req, accountTokenListSchema);
    const { status = null, search = null, application_id = null } = wanted;
    const filter = { ...lookAhead(wanted), status, search, application_id };
    const found = await ofAccount(access.accountOf(req, res), filter);
    const { rows, next_cursor } = cutPage(found, wanted, ({ token_id }) => token_id);
    const tokens = rows.map((token) => ({ ...answer(token), application_name: token.application_name }));
    res.json({ tokens, next_cursor });
  };
}

/** `POST …/tokens/{token_id}/copy`, without a body: 200 with `access_token`. 409 `token_not_active`. */
export function copyTokenEndpoint({ copy }: Pick<Tokens, 'copy'>, access: Access): RequestHandler {
  return async (req, res) => {
    const id = { ...access.applicationOf(req, res), token_id: tokenIdOf(req) };
    const { token, access_token } = await copy(id, access.actorOf(req, res));
    res.json({ ...answer(token), access_token });
  };
}

/** `POST …/tokens/{token_id}/revoke`, without a body: 200 with `delivered`. Repeating it tells auth again. */
export function revokeTokenEndpoint({ revoke }: Pick<Tokens, 'revoke'>, access: Access): RequestHandler {
  return async (req, res) => {
    const id = { ...access.applicationOf(req, res), token_id: tokenIdOf(req) };
    const { token, delivered } = await revoke(id, access.actorOf(req, res));
    res.json({ ...answer(token), delivered });
  };
}

/**
 * `POST …/temporary-token`, without a body: 200 `{access_token, expires_at}`, the same token for 12 hours.
 * 403 `account_blocked`.
 */
export function temporaryTokenEndpoint(
  { temporary }: Pick<Tokens, 'temporary'>,
  access: Access,
): RequestHandler {
  return async (req, res) => {
    res.json(await temporary(access.accountOf(req, res), access.actorOf(req, res)));
  };
}

/** `GET …/temporary-token`: 200 `{expires_at}`, null if none is live. Neither makes one nor shows it. */
export function temporaryTokenEndEndpoint(
  { temporaryEnd }: Pick<Tokens, 'temporaryEnd'>,
  access: Access,
): RequestHandler {
  return async (req, res) => {
    res.json({ expires_at: await temporaryEnd(access.accountOf(req, res)) });
  };
}

/** `DELETE …/accounts/{account_id}/temporary-token`: 200 `{delivered}`, also if there is none. */
export function revokeTemporaryTokenEndpoint(
  { revokeTemporary }: Pick<Tokens, 'revokeTemporary'>,
  access: Access,
): RequestHandler {
  return async (req, res) => {
    res.json(await revokeTemporary(access.accountOf(req, res), access.actorOf(req, res)));
  };
}

function answer(token: Token): Token {
  const { token_id, application_id, name, status, issued_at, expires_at, revoked_at, last_used_at } = token;
  return { token_id, application_id, name, status, issued_at, expires_at, revoked_at, last_used_at };
}
