import type { Request } from 'express';
import { z } from 'zod';
import { Problem } from '@tollgate/http/problem';
import { bodyOf } from '@tollgate/operation/json-body';
import { headersOf } from '@tollgate/operation/header-fields';
import { newCreditSchema } from '../../billing/credits/input.ts';
import { idempotencyKeyField } from '../../http/input/idempotency-key.ts';
import { idParameter } from '../../http/input/id-parameter.ts';
import type { FourEyesSettings } from './settings.ts';

/** The parts of a request that an operation reads, in the order of their names. */
export type ActRequest = {
  body: unknown;
  headers: Readonly<Record<string, string>>;
  params: Readonly<Record<string, string>>;
};

export type Asked = { account_id: number; request: ActRequest };

type Act = {
  /** Of a request that the operation would accept. @throws {Problem} as the operation does */
  read: (req: Request) => Asked;
  /** Always, unless it says otherwise. */
  isNeeded?: (asked: Asked, settings: FourEyesSettings) => boolean;
};

const ofAccount: Act = {
  read: (req) => {
    const { data: account_id } = idParameter.safeParse(req.params['account_id']);
    if (account_id === undefined) throw new Problem('not_found');
    return {
      account_id,
      request: { body: null, headers: {}, params: { account_id: String(account_id) } },
    };
  },
};

const GRANT_HEADERS = z.object({ 'Idempotency-Key': idempotencyKeyField });

/** Operations of the operators' API that need a second operator (docs/adr/0153). */
export const ACTS: Readonly<Record<string, Act>> = {
  resetTwoFactor: ofAccount,
  carryOutAccountDeletion: ofAccount,
  grantCredits: {
    read: (req) => {
      const body = bodyOf(req, newCreditSchema);
      const { 'Idempotency-Key': key } = headersOf(req, GRANT_HEADERS);
      return {
        account_id: body.account_id,
        request: { body: sorted(req.body), headers: { 'idempotency-key': key }, params: {} },
      };
    },
    isNeeded: ({ request }, { creditPoints }) =>
      creditPoints !== undefined && (request.body as { points: number }).points > creditPoints,
  },
};

/** With the names of fields in order, at any depth: the same request is the same text. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([one], [other]) => (one < other ? -1 : 1))
      .map(([name, each]) => [name, sorted(each)]),
  );
}
