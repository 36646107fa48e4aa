import type { Request, RequestHandler, Response } from 'express';
import { z } from 'zod';
import { Problem } from '@tollgate/http/problem';
import { operatorOf } from '../../platform/audit/operator-actor.ts';
import type { Actor } from '../../platform/audit/audit-log.ts';
import type { Period } from '../periods/period-store.ts';
import { singleRow } from '../../platform/database/single-row.ts';
import { idOf } from '../../http/input/id-parameter.ts';
import type { Query, Transact } from '../../platform/database/query.ts';
import {
  booleanQueryField,
  idField,
  idQueryField,
  secondField,
  teamSlotsField,
} from '../../http/input/fields.ts';
import { bodyOf } from '../../http/input/json-body.ts';
import { cutPage, lookAhead, pageFields, queryOf } from '../../http/input/page.ts';
import { createPeriod, endPeriod, removePeriod, setPeriodBlocked, setPeriodTeamSlots } from './changes.ts';
import { findPeriod, listPeriods, periodAnswer } from '../periods/list.ts';

/**
 * Billing periods, for operators. A period is `period_id, account_id, plan_id, plan_name, product_id,
 * subscription_id, description, grace_sec, team_slots_limit, started_at, ended_at, created_at, blocked_at`, `status`
 * (`active`, `grace`, `blocked`, `expired`; null before it starts; `expired` if another followed) and `usage`
 * `{points, requests, time_ms, traffic_bytes}`. Times are UTC; `ended_at` is the last second. Errors as for plans.
 */

const newPeriodSchema = z
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
  });

const teamSlotsSchema = z.strictObject({ team_slots_limit: teamSlotsField });

const listSchema = z.strictObject({
  ...pageFields,
  account_id: idQueryField.optional(),
  blocked: booleanQueryField.optional(),
});

/** `GET /private/periods?account_id=&blocked=&limit=50&cursor=…`: 200 `{periods, next_cursor}`, newest first. */
export function periodsEndpoint(query: Query): RequestHandler {
  return async (req, res) => {
    const wanted = queryOf(req, listSchema);
    const now = new Date();
    const found = await listPeriods(query, wanted, lookAhead(wanted), now);
    const { rows, next_cursor } = cutPage(found, wanted, ({ period_id }) => period_id);
    res.json({ periods: rows.map((row) => periodAnswer(row, now)), next_cursor });
  };
}

/**
 * `POST /private/periods` with `{account_id, plan_id, started_at, ended_at, team_slots_limit?}`: 201. 409
 * `periods_overlap`, `plan_archived`, or `subscription_exists`.
 */
export function newPeriodEndpoint(transact: Transact): RequestHandler {
  return async (req, res) => {
    const wanted = bodyOf(req, newPeriodSchema);
    const made = await changed(transact, (inside) => createPeriod(inside, wanted, operatorOf(req, res)));
    res
      .status(201)
      .location(`/private/periods/${String(made.period_id)}`)
      .json(made);
  };
}

export function periodEndpoint(query: Query): RequestHandler {
  return async (req, res) => {
    const now = new Date();
    const found = await findPeriod(query, idOf(req, 'period_id'), now);
    if (found === undefined) throw new Problem('not_found');
    res.json(periodAnswer(found, now));
  };
}

/** `DELETE /private/periods/{period_id}`: 204, or 409 `period_started`. */
export function deletePeriodEndpoint(transact: Transact): RequestHandler {
  return async (req, res) => {
    const id = idOf(req, 'period_id');
    await transact((inside) => removePeriod(inside, id, operatorOf(req, res)));
    res.status(204).end();
  };
}

/** `POST …/{period_id}/end`, without a body: 200. 409 `period_not_active`, or `subscription_exists` if one is live. */
export const endPeriodEndpoint = (transact: Transact) => changeEndpoint(transact, endPeriod);

/** `POST …/{period_id}/block` and `…/unblock`, without a body: 200. */
export function blockPeriodEndpoint(transact: Transact, blocked: boolean): RequestHandler {
  return changeEndpoint(transact, (inside, id, by) => setPeriodBlocked(inside, id, blocked, by));
}

/** `POST …/{period_id}/team-slots` with `{team_slots_limit}`: 200; changes only this period. */
export function periodTeamSlotsEndpoint(transact: Transact): RequestHandler {
  return changeEndpoint(transact, (inside, id, by, req) =>
    setPeriodTeamSlots(inside, id, bodyOf(req, teamSlotsSchema).team_slots_limit, by),
  );
}

type Change = (inside: Query, periodId: number, by: Actor, req: Request) => Promise<Period>;

function changeEndpoint(transact: Transact, change: Change): RequestHandler {
  return async (req: Request, res: Response) => {
    const id = idOf(req, 'period_id');
    res.json(await changed(transact, (inside) => change(inside, id, operatorOf(req, res), req)));
  };
}

async function changed(transact: Transact, change: (inside: Query) => Promise<Period>) {
  return transact(async (inside) => {
    const { period_id } = await change(inside);
    const now = new Date();
    const found = await findPeriod(inside, period_id, now);
    return periodAnswer(singleRow(found === undefined ? [] : [found]), now);
  });
}
