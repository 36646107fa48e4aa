import { z } from 'zod';
import { Problem } from '@tollgate/http/problem';
import { Reply, operation } from '@tollgate/operation';
import type { Chapter } from '@tollgate/operation';
import { id, instant, nextCursor } from '../../http/answer-fields.ts';
import {
  booleanQueryField,
  idField,
  idQueryField,
  secondField,
  teamSlotsField,
} from '../../http/input/fields.ts';
import { idParameter } from '../../http/input/id-parameter.ts';
import { cutPage, lookAhead, pageFields } from '../../http/input/page.ts';
import { operator } from '../../platform/audit/private-callers.ts';
import type { Query, Transact } from '../../platform/database/query.ts';
import { singleRow } from '../../platform/database/single-row.ts';
import { findPeriod, listPeriods, periodAnswer } from '../periods/list.ts';
import type { Period } from '../periods/period-store.ts';
import {
  changePeriod,
  createPeriod,
  endPeriod,
  removePeriod,
  setPeriodBlocked,
  setPeriodTeamSlots,
} from './changes.ts';

type Needs = { query: Query; transact: Transact };

const count = z.int().min(0);

const periodSchema = z
  .object({
    period_id: id,
    account_id: id,
    plan_id: id,
    plan_name: z.string(),
    product_id: id.nullable(),
    subscription_id: id.nullable().meta({ description: 'Null if it was created by an operator.' }),
    description: z.record(z.string(), z.unknown()).meta({ description: 'The attributes of its plan.' }),
    grace_sec: count,
    team_slots_limit: count.nullable(),
    started_at: instant,
    ended_at: instant.meta({ description: 'Its last second.' }),
    created_at: instant,
    blocked_at: instant.nullable(),
    status: z
      .enum(['active', 'grace', 'blocked', 'expired'])
      .nullable()
      .meta({ description: 'Null before it starts; `expired` if another followed.' }),
    usage: z.object({ points: count, requests: count, time_ms: count, traffic_bytes: count }),
    overuse_points: count.meta({
      description: 'Settled usage that neither the plan nor credits covered, and that no purchase has paid.',
    }),
  })
  .meta({ id: 'Period' });

const PERIOD = { description: 'The period.', schema: periodSchema };

const ofPeriod = z.object({ period_id: idParameter });

export const operatorPeriods = {
  title: 'Billing periods',
  description: 'Billing periods of all accounts. Times are UTC.',
  operations: [
    operation('GET /private/periods', {
      operationId: 'listPeriods',
      summary: 'List billing periods, newest first',
      caller: operator,
      roles: ['viewer'],
      query: z.strictObject({
        ...pageFields,
        account_id: idQueryField.optional(),
        plan_id: idQueryField.optional(),
        blocked: booleanQueryField.optional(),
      }),
      answers: {
        200: {
          description: 'One page.',
          schema: z.object({ periods: z.array(periodSchema), next_cursor: nextCursor }),
        },
      },
      handle: async ({ query: read }: Needs, { query }) => {
        const now = new Date();
        const found = await listPeriods(read, query, lookAhead(query), now);
        const { rows, next_cursor } = cutPage(found, query, ({ period_id }) => period_id);
        return { periods: rows.map((row) => periodAnswer(row, now)), next_cursor };
      },
    }),
    operation('POST /private/periods', {
      operationId: 'createPeriod',
      summary: 'Create a billing period',
      caller: operator,
      roles: ['finance'],
      body: z
        .strictObject({
          account_id: idField,
          plan_id: idField,
          started_at: secondField,
          ended_at: secondField,
          team_slots_limit: teamSlotsField.default(null),
        })
        .refine(({ started_at, ended_at }) => ended_at > started_at, {
          path: ['ended_at'],
          error: 'must be after started_at',
        }),
      example: {
        account_id: 42,
        plan_id: 3,
        started_at: '2026-07-01T00:00:00Z',
        ended_at: '2026-07-31T23:59:59Z',
      },
      answers: { 201: { ...PERIOD, headers: { Location: 'Path of the period.' } } },
      problems: ['not_found', 'periods_overlap', 'plan_archived', 'subscription_exists'],
      handle: async ({ transact }: Needs, { by, body }) => {
        const made = await changed(transact, (inside) => createPeriod(inside, body, by.actor));
        return new Reply(201, made, { location: `/private/periods/${String(made.period_id)}` });
      },
    }),
    operation('GET /private/periods/{period_id}', {
      operationId: 'getPeriod',
      summary: 'Get a billing period',
      caller: operator,
      roles: ['viewer'],
      params: ofPeriod,
      answers: { 200: PERIOD },
      handle: async ({ query }: Needs, { params: { period_id } }) => {
        const now = new Date();
        const found = await findPeriod(query, period_id, now);
        if (found === undefined) throw new Problem('not_found');
        return periodAnswer(found, now);
      },
    }),
    operation('PATCH /private/periods/{period_id}', {
      operationId: 'changePeriod',
      summary: 'Change the plan or the end of a billing period that goes on',
      description:
        'What is used stays used, and counts against the limits of the plan. Not while the account has a subscription.',
      caller: operator,
      roles: ['finance'],
      params: ofPeriod,
      body: z.strictObject({ plan_id: idField.optional(), ended_at: secondField.optional() }),
      example: { ended_at: '2026-08-31T23:59:59Z' },
      answers: { 200: PERIOD },
      problems: ['period_not_active', 'periods_overlap', 'plan_archived', 'subscription_exists'],
      handle: ({ transact }: Needs, { by, params: { period_id }, body }) =>
        changed(transact, (inside) => changePeriod(inside, period_id, body, by.actor)),
    }),
    operation('DELETE /private/periods/{period_id}', {
      operationId: 'deletePeriod',
      summary: 'Delete a billing period that has not started',
      caller: operator,
      roles: ['finance'],
      params: ofPeriod,
      answers: { 204: { description: 'Deleted.' } },
      problems: ['period_started'],
      handle: async ({ transact }: Needs, { by, params: { period_id } }) => {
        await transact((inside) => removePeriod(inside, period_id, by.actor));
      },
    }),
    operation('POST /private/periods/{period_id}/end', {
      operationId: 'endPeriod',
      summary: 'End a billing period now',
      caller: operator,
      roles: ['finance'],
      params: ofPeriod,
      answers: { 200: PERIOD },
      problems: ['period_not_active', 'subscription_exists'],
      handle: ({ transact }: Needs, { by, params: { period_id } }) =>
        changed(transact, (inside) => endPeriod(inside, period_id, by.actor)),
    }),
    operation('POST /private/periods/{period_id}/block', {
      operationId: 'blockPeriod',
      summary: 'Block a billing period',
      caller: operator,
      roles: ['support', 'finance'],
      params: ofPeriod,
      answers: { 200: PERIOD },
      handle: ({ transact }: Needs, { by, params: { period_id } }) =>
        changed(transact, (inside) => setPeriodBlocked(inside, period_id, true, by.actor)),
    }),
    operation('POST /private/periods/{period_id}/unblock', {
      operationId: 'unblockPeriod',
      summary: 'Unblock a billing period',
      caller: operator,
      roles: ['support', 'finance'],
      params: ofPeriod,
      answers: { 200: PERIOD },
      handle: ({ transact }: Needs, { by, params: { period_id } }) =>
        changed(transact, (inside) => setPeriodBlocked(inside, period_id, false, by.actor)),
    }),
    operation('POST /private/periods/{period_id}/team-slots', {
      operationId: 'setPeriodTeamSlots',
      summary: 'Set the team slots of a billing period',
      description: 'Changes only this period.',
      caller: operator,
      roles: ['finance'],
      params: ofPeriod,
      body: z.strictObject({ team_slots_limit: teamSlotsField }),
      example: { team_slots_limit: 8 },
      answers: { 200: PERIOD },
      handle: ({ transact }: Needs, { by, params: { period_id }, body: { team_slots_limit } }) =>
        changed(transact, (inside) => setPeriodTeamSlots(inside, period_id, team_slots_limit, by.actor)),
    }),
  ],
} satisfies Chapter;

function changed(transact: Transact, change: (inside: Query) => Promise<Period>) {
  return transact(async (inside) => {
    const { period_id } = await change(inside);
    const now = new Date();
    const found = await findPeriod(inside, period_id, now);
    return periodAnswer(singleRow(found === undefined ? [] : [found]), now);
  });
}
