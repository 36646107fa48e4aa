import type { Request } from 'express';
import { z } from 'zod';
import { Problem } from '@tollgate/http/problem';
import { bodyOf } from '@tollgate/operation/json-body';
import { headersOf } from '@tollgate/operation/header-fields';
import { newCreditSchema } from '../../billing/credits/input.ts';
import { planChangeSchema } from '../../billing/plans/input.ts';
import { idempotencyKeyField } from '../../http/input/idempotency-key.ts';
import { addressSchema } from '../../identity/accounts/input.ts';
import { idParameter } from '../../http/input/id-parameter.ts';
import { applySchema } from '../../plans-as-code/operations.ts';
import type { Query } from '../../platform/database/query.ts';
import { fileReducesLimits, reducesLimits } from './plan-limits.ts';
import type { FourEyesSettings } from './settings.ts';

/** The parts of a request that an operation reads, in the order of their names. */
export type ActRequest = {
  body: unknown;
  headers: Readonly<Record<string, string>>;
  params: Readonly<Record<string, string>>;
};

/** `account_id`: null for what is about plans. */
export type Asked = { account_id: number | null; request: ActRequest };

type Act = {
  /** Of a request that the operation would accept. @throws {Problem} as the operation does */
  read: (req: Request) => Asked;
  /** Always, unless it says otherwise. */
  isNeeded?: (asked: Asked, settings: FourEyesSettings, query: Query) => boolean | Promise<boolean>;
};

const ofAccount = {
  read: (req: Request) => {
    const { data: account_id } = idParameter.safeParse(req.params['account_id']);
    if (account_id === undefined) throw new Problem('not_found');
    return {
      account_id,
      request: { body: null, headers: {}, params: { account_id: String(account_id) } },
    };
  },
};

const ofPlan = z.object({ plan_id: idParameter });

const GRANT_HEADERS = z.object({ 'Idempotency-Key': idempotencyKeyField });

/** Operations of the operators' API that need a second operator (docs/adr/0153). */
export const ACTS: Readonly<Record<string, Act>> = {
  resetTwoFactor: ofAccount,
  carryOutAccountDeletion: ofAccount,
  changeAccountEmail: {
    read: (req) => {
      bodyOf(req, addressSchema);
      const { account_id, request } = ofAccount.read(req);
      return { account_id, request: { ...request, body: sorted(req.body) } };
    },
  },
  changePlan: {
    read: (req) => {
      bodyOf(req, planChangeSchema);
      const { data } = ofPlan.safeParse(req.params);
      if (data === undefined) throw new Problem('not_found');
      const params = { plan_id: String(data.plan_id) };
      return { account_id: null, request: { body: sorted(req.body), headers: {}, params } };
    },
    isNeeded: ({ request: { body, params } }, _settings, query) => {
      const { description } = planChangeSchema.parse(body);
      return reducesLimits(query, Number(params['plan_id']), description);
    },
  },
  applyPlans: {
    read: (req) => {
      bodyOf(req, applySchema);
      return { account_id: null, request: { body: sorted(req.body), headers: {}, params: {} } };
    },
    isNeeded: ({ request: { body } }, _settings, query) => fileReducesLimits(query, applySchema.parse(body)),
  },
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
