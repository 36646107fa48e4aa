import { z } from 'zod';
import { Problem } from '@tollgate/http/problem';
import { Reply, operation } from '@tollgate/operation';
import type { Chapter } from '@tollgate/operation';
import { id, nextCursor } from '../../http/answer-fields.ts';
import { cursorField, idField, idQueryField } from '../../http/input/fields.ts';
import { idParameter } from '../../http/input/id-parameter.ts';
import { idempotencyKeyField } from '../../http/input/idempotency-key.ts';
import { cutPage, lookAhead, pageFields } from '../../http/input/page.ts';
import { operator } from '../../platform/audit/private-callers.ts';
import type { Query, Transact } from '../../platform/database/query.ts';
import { CREDIT_SOURCES } from './allocation.ts';
import { creditAnswer, creditSchema, movementSchema } from './answers.ts';
import { FAULTS } from './check.ts';
import type { Difference } from './check.ts';
import { grantCredits, transferCredit, voidCredit } from './changes.ts';
import type { LockInstant } from './changes.ts';
import { findDifferences } from './differences.ts';
import { newCreditSchema } from './input.ts';
import { findCredit, listCredits, listHolders, listMovements } from './store.ts';

type ReadNeeds = { query: Query; redisNowMs: () => number };

/** One read-only moment. */
type CheckNeeds = { creditChecks: Transact };

type ChangeNeeds = {
  transact: Transact;
  lockInstant: LockInstant;
  /** Tells gateways of changed entitlements; fulfilled once Redis has acknowledged it. */
  announceEntitlements: (accountIds: readonly number[]) => Promise<void>;
  redisNowMs: () => number;
};

/** Accounts in one answer. */
const CHECKED_AT_ONCE = 100;

const differenceSchema = z.object({
  account_id: id,
  fault: z.enum(Object.keys(FAULTS) as Difference['fault'][]),
  movement_id: id.nullable().meta({ description: 'The first movement that differs.' }),
  credit_id: id.nullable(),
  period_id: id.nullable(),
  expected: z.int(),
  found: z.int(),
});

const CREDIT = { description: 'The grant.', schema: creditSchema };

const ofCredit = z.object({ credit_id: idParameter });

export const operatorCredits = {
  title: 'Credits',
  description: 'Points that accounts have in addition to those of their plans. Times are UTC.',
  operations: [
    operation('GET /private/credits', {
      operationId: 'listCredits',
      summary: 'List grants, newest first',
      caller: operator,
      roles: ['viewer'],
      query: z.strictObject({
        ...pageFields,
        account_id: idQueryField.optional(),
        source: z.enum(CREDIT_SOURCES, `must be one of ${CREDIT_SOURCES.join(', ')}`).optional(),
      }),
      answers: {
        200: {
          description: 'One page.',
          schema: z.object({ credits: z.array(creditSchema), next_cursor: nextCursor }),
        },
      },
      handle: async ({ query: read, redisNowMs }: ReadNeeds, { query }) => {
        const found = await listCredits(read, query, lookAhead(query));
        const { rows, next_cursor } = cutPage(found, query, ({ credit_id }) => credit_id);
        return { credits: rows.map((credit) => creditAnswer(credit, redisNowMs())), next_cursor };
      },
    }),
    operation('POST /private/credits', {
      operationId: 'grantCredits',
      summary: 'Grant points to an account',
      description:
        'Grants once for an `Idempotency-Key` of the credential: a repeated request returns the grant with 200, one ' +
        'with another body is `idempotency_conflict`. Keys are kept as long as the grant.',
      caller: operator,
      roles: ['finance'],
      headers: z.object({ 'Idempotency-Key': idempotencyKeyField }),
      body: newCreditSchema,
      example: { account_id: 42, points: 10_000, source: 'promotion', expires_at: '2027-01-01T00:00:00Z' },
      answers: {
        200: { description: 'The grant that an earlier request with this key made.', schema: creditSchema },
        201: { ...CREDIT, headers: { Location: 'Path of the grant.' } },
      },
      problems: ['idempotency_conflict', 'total_too_large'],
      handle: async (
        { transact, lockInstant, redisNowMs }: ChangeNeeds,
        { by: { actor }, headers, body },
      ) => {
        const key = { reporter: actor.actor, idempotency_key: headers['Idempotency-Key'] };
        const { credit, repeated } = await transact((inside) =>
          grantCredits(inside, lockInstant, { ...body, purchase_id: null }, key, actor),
        );
        const answer = creditAnswer(credit, redisNowMs());
        if (repeated) return new Reply(200, answer);
        return new Reply(201, answer, { location: `/private/credits/${String(credit.credit_id)}` });
      },
    }),
    operation('GET /private/credits/{credit_id}', {
      operationId: 'getCredit',
      summary: 'Get a grant',
      caller: operator,
      roles: ['viewer'],
      params: ofCredit,
      answers: { 200: CREDIT },
      handle: async ({ query, redisNowMs }: ReadNeeds, { params: { credit_id } }) => {
        const found = await findCredit(query, credit_id);
        if (found === undefined) throw new Problem('not_found');
        return creditAnswer(found, redisNowMs());
      },
    }),
    operation('POST /private/credits/{credit_id}/void', {
      operationId: 'voidCredit',
      summary: 'Void what is left of a grant',
      description:
        'Its points can’t be used from now on, on any gateway. How many were left is known once earlier usage is ' +
        'counted, normally within a second: the status is `voiding`, then `void`. Voiding a grant that is already ' +
        'void or has no points left changes nothing.',
      caller: operator,
      roles: ['finance'],
      params: ofCredit,
      answers: { 200: CREDIT },
      handle: async (needs: ChangeNeeds, { by: { actor }, params: { credit_id } }) => {
        const { transact, lockInstant, announceEntitlements, redisNowMs } = needs;
        const credit = await transact((inside) =>
          voidCredit(inside, lockInstant, credit_id, 'voided', actor),
        );
        // The answer says that no gateway admits calls by these points.
        await announceEntitlements([credit.account_id]);
        return creditAnswer(credit, redisNowMs());
      },
    }),
    operation('POST /private/credits/{credit_id}/transfer', {
      operationId: 'transferCredit',
      summary: 'Move what is left of a purchase to another account',
      description:
        'Only of points that were bought. Voids the grant, and grants what was left to the other account until the ' +
        'same time, once earlier usage is counted, normally within a second. Repeating it changes nothing.',
      caller: operator,
      roles: ['finance'],
      params: ofCredit,
      body: z.strictObject({ account_id: idField }),
      example: { account_id: 8 },
      answers: { 200: { ...CREDIT, description: 'The voided grant.' } },
      problems: ['credits_not_transferable', 'total_too_large'],
      handle: async (needs: ChangeNeeds, { by: { actor }, params: { credit_id }, body: { account_id } }) => {
        const { transact, lockInstant, announceEntitlements, redisNowMs } = needs;
        const credit = await transact((inside) =>
          transferCredit(inside, lockInstant, credit_id, account_id, actor),
        );
        await announceEntitlements([credit.account_id]);
        return creditAnswer(credit, redisNowMs());
      },
    }),
    operation('GET /private/credits/{credit_id}/movements', {
      operationId: 'listCreditMovements',
      summary: 'List a grant’s movements, newest first',
      caller: operator,
      roles: ['viewer'],
      params: ofCredit,
      query: z.strictObject(pageFields),
      answers: {
        200: {
          description: 'One page.',
          schema: z.object({ movements: z.array(movementSchema), next_cursor: nextCursor }),
        },
      },
      handle: async ({ query: read }: ReadNeeds, { params: { credit_id }, query }) => {
        if ((await findCredit(read, credit_id)) === undefined) throw new Problem('not_found');
        const found = await listMovements(read, { credit_id }, lookAhead(query));
        const { rows, next_cursor } = cutPage(found, query, ({ movement_id }) => movement_id);
        return { movements: rows, next_cursor };
      },
    }),
    operation('POST /private/credit-checks', {
      operationId: 'checkCredits',
      summary: 'Recompute credits from grants, movements and periods',
      description:
        'Checks one account, or all accounts with grants, one page at a time. Names the first difference of each ' +
        'account. ' +
        Object.entries(FAULTS)
          .map(([fault, meaning]) => `\`${fault}\`: ${meaning}`)
          .join(' '),
      caller: operator,
      roles: ['viewer'],
      body: z.strictObject({
        account_id: idField.optional(),
        cursor: cursorField,
      }),
      example: { account_id: 42 },
      answers: {
        200: {
          description: 'What was checked.',
          schema: z.object({
            checked: z.int().min(0).meta({ description: 'Accounts.' }),
            differences: z.array(differenceSchema),
            next_cursor: nextCursor,
          }),
        },
      },
      handle: ({ creditChecks }: CheckNeeds, { body: { account_id, cursor } }) =>
        creditChecks(async (snapshot) => {
          const found =
            account_id === undefined
              ? await listHolders(snapshot, cursor ?? 0, CHECKED_AT_ONCE + 1)
              : [account_id];
          const { rows, next_cursor } = cutPage(found, { limit: CHECKED_AT_ONCE }, (accountId) => accountId);
          return { checked: rows.length, differences: await findDifferences(snapshot, rows), next_cursor };
        }),
    }),
  ],
} satisfies Chapter;
