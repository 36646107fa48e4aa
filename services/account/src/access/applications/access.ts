import { z } from 'zod';
import type { ErrorCode } from '@tollgate/contracts/error-codes';
import type { Caller, Guard } from '@tollgate/operation';
import type { BlockedNeeds } from '../../billing/entitlements/refuse-blocked.ts';
import { idParameter } from '../../http/input/id-parameter.ts';
import { session } from '../../identity/sessions/require-session.ts';
import type { SignedIn } from '../../identity/sessions/require-session.ts';
import { CREATION_REFUSALS, mayCreate } from '../authentication/may-create.ts';
import type { Actor } from '../../platform/audit/audit-log.ts';
import { operator } from '../../platform/audit/private-callers.ts';

/** The same operations serve operators and, at /api/console, an account's owner. */
export type Access<By extends { actor: Actor }> = {
  caller: Caller<By>;
  path: '/private' | '/api/console';
  /** Whose applications are found; null: everyone's. */
  ownerOf: (by: By) => number | null;
  /** The path of one account's tokens, and its parameters. */
  account: {
    path: '/private/accounts/{account_id}' | '/api/console';
    params: z.ZodObject | undefined;
    idOf: (by: By, params: Readonly<Record<string, unknown>>) => number;
  };
  /** Runs before a credential is created. */
  mayCreate: Guard<BlockedNeeds, By>;
  /** The problems of `mayCreate`. */
  refusals: readonly ErrorCode[];
};

/** Operators can create credentials for accounts in any state. */
export const operatorAccess: Access<{ actor: Actor }> = {
  caller: operator,
  path: '/private',
  ownerOf: () => null,
  account: {
    path: '/private/accounts/{account_id}',
    params: z.object({ account_id: idParameter }),
    idOf: (_by, { account_id }) => Number(account_id),
  },
  mayCreate: () => undefined,
  refusals: [],
};

export const ownerAccess: Access<SignedIn> = {
  caller: session,
  path: '/api/console',
  ownerOf: ({ account_id }) => account_id,
  account: { path: '/api/console', params: undefined, idOf: ({ account_id }) => account_id },
  mayCreate,
  refusals: CREATION_REFUSALS,
};
