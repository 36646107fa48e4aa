import type { RequestHandler, Response } from 'express';
import type { Access } from '../applications/access.ts';
import { bodyOf } from '../../http/input/json-body.ts';
import { cutPage, lookAhead, queryOf } from '../../http/input/page.ts';
import { newTokenSchema, tokenIdOf, tokenListSchema } from './input.ts';
import type { Token, Tokens } from './tokens.ts';

/**
 * Tokens made by hand, for operators on the private listener, and for the applications' owner at `/api/console`
 * (there without `/accounts/{account_id}`). A token's record is `token_id,
 * application_id, name, status, issued_at, expires_at, revoked_at, last_used_at`: times in ISO 8601, the last two
 * null where it never happened, the status `Active`, `Expired` or `Revoked`. `access_token` is the token itself,
 * and is in the answers of issuing, of copying and of the temporary token only. 404 `not_found` for what is
 * unknown, deleted or, to an owner, another account's; 400 `invalid_request` naming all faulty members; 401 without
 * an operator's credential or a session; 503 while Postgres is away.
 */

/**
 * `POST …/applications/{application_id}/tokens` with `{name}`: 201, the record, `access_token` and
 * `delivered`: whether auth knows the token already; where it doesn't within a second, it is told until it does.
 * It lives for the application's lifespan. 409 `application_revoked`, or `token_limit_reached` where the
 * application has MAX_HAND_MADE_TOKENS_PER_APPLICATION active ones.
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
 * `GET …/applications/{application_id}/tokens?limit=50&cursor=…&status=Active`: 200 `{tokens, next_cursor}`,
 * newest first; `limit` is 1 to 200, `next_cursor` null at the end.
 */
export function tokensOfApplicationEndpoint(
  { ofApplication }: Pick<Tokens, 'ofApplication'>,
  access: Access,
): RequestHandler {
  return async (req, res) => {
    const wanted = queryOf(req, tokenListSchema);
    const key = access.applicationOf(req, res);
    sendPage(res, await ofApplication(key, { ...lookAhead(wanted), status: wanted.status ?? null }), wanted);
  };
}

/** `GET …/accounts/{account_id}/tokens`: the same over all of the account's applications. */
export function tokensOfAccountEndpoint(
  { ofAccount }: Pick<Tokens, 'ofAccount'>,
  access: Access,
): RequestHandler {
  return async (req, res) => {
    const wanted = queryOf(req, tokenListSchema);
    const accountId = access.accountOf(req, res);
    sendPage(
      res,
      await ofAccount(accountId, { ...lookAhead(wanted), status: wanted.status ?? null }),
      wanted,
    );
  };
}

/**
 * `POST …/applications/{application_id}/tokens/{token_id}/copy`, without a body: 200, the record and
 * `access_token`. 409 `token_not_active` for one that is expired or revoked.
 */
export function copyTokenEndpoint({ copy }: Pick<Tokens, 'copy'>, access: Access): RequestHandler {
  return async (req, res) => {
    const id = { ...access.applicationOf(req, res), token_id: tokenIdOf(req) };
    const { token, access_token } = await copy(id, access.actorOf(req, res));
    res.json({ ...answer(token), access_token });
  };
}

/**
 * `POST …/applications/{application_id}/tokens/{token_id}/revoke`, without a body: 200, the record and
 * `delivered`. Again for one that is revoked: the same, and auth is told once more.
 */
export function revokeTokenEndpoint({ revoke }: Pick<Tokens, 'revoke'>, access: Access): RequestHandler {
  return async (req, res) => {
    const id = { ...access.applicationOf(req, res), token_id: tokenIdOf(req) };
    const { token, delivered } = await revoke(id, access.actorOf(req, res));
    res.json({ ...answer(token), delivered });
  };
}

/**
 * `POST …/accounts/{account_id}/temporary-token`, without a body: 200 `{access_token, expires_at}`, the
 * same for its whole 12 hours, then another. 403 `account_blocked`.
 */
export function temporaryTokenEndpoint(
  { temporary }: Pick<Tokens, 'temporary'>,
  access: Access,
): RequestHandler {
  return async (req, res) => {
    res.json(await temporary(access.accountOf(req, res), access.actorOf(req, res)));
  };
}

/**
 * `DELETE …/accounts/{account_id}/temporary-token`: 200 `{delivered}`; the next request for it gives
 * another one. The same where there is none.
 */
export function revokeTemporaryTokenEndpoint(
  { revokeTemporary }: Pick<Tokens, 'revokeTemporary'>,
  access: Access,
): RequestHandler {
  return async (req, res) => {
    res.json(await revokeTemporary(access.accountOf(req, res), access.actorOf(req, res)));
  };
}

function sendPage(res: Response, found: readonly Token[], wanted: { limit: number }): void {
  const { rows, next_cursor } = cutPage(found, wanted, ({ token_id }) => token_id);
  res.json({ tokens: rows.map(answer), next_cursor });
}

function answer(token: Token): Token {
  const { token_id, application_id, name, status, issued_at, expires_at, revoked_at, last_used_at } = token;
  return { token_id, application_id, name, status, issued_at, expires_at, revoked_at, last_used_at };
}
