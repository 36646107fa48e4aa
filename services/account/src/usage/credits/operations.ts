import { z } from 'zod';
import { invalidToken } from '@tollgate/http/problem';
import { Reply, operation } from '@tollgate/operation';
import type { Chapter } from '@tollgate/operation';
import { token } from '../../access/authentication/bearer.ts';
import { CREDIT_SOURCES } from '../../billing/credits/allocation.ts';
import { creditStatus } from '../../billing/credits/credit.ts';
import { findCarriedOveruse, findHoldings } from '../../billing/credits/holdings.ts';
import type { OveruseMode } from '../../billing/credits/settlement.ts';
import { findPayerPeriods } from '../../billing/periods/payer-periods.ts';
import { isoSeconds } from '../../http/iso-seconds.ts';
import { id } from '../../http/answer-fields.ts';
import { billingSession } from '../../identity/sessions/require-session.ts';
import type { Query } from '../../platform/database/query.ts';

type Needs = {
  query: Query;
  redisNowMs: () => number;
  /** CREDITS_OVERUSE */
  overuseMode: OveruseMode;
};

const count = z.int().min(0);

const second = z.iso.datetime({ precision: 0 });

const creditsSchema = z
  .object({
    account_id: id,
    payer_id: id.meta({ description: 'The team manager’s account for a member, else the account itself.' }),
    credits: z.object({
      points_remaining: count.meta({
        description: 'Points that can be used now, after the included points of the plan.',
      }),
      overage_points_remaining: count.meta({
        description:
          'Further points that can be used after those, at the plan’s price, up to the cap that was set.',
      }),
      overuse_points: count.meta({
        description: 'What the next purchase pays first: usage that neither the plan nor credits covered.',
      }),
      grants: z
        .array(
          z.object({
            credit_id: id,
            status: z.enum(['scheduled', 'active']),
            points: count,
            points_remaining: count,
            source: z.enum(CREDIT_SOURCES),
            priority: count.meta({ description: 'Grants with a lower number are used first.' }),
            effective_at: second,
            expires_at: second.nullable().meta({ description: 'Exclusive; null if they do not expire.' }),
            note: z.string().nullable().meta({ description: 'Null for members of the payer’s team.' }),
          }),
        )
        .meta({ description: 'Grants that are scheduled or have points left, in order of use.' }),
    }),
  })
  .meta({ id: 'Credits' });

const CREDITS = {
  description: 'The credits.',
  schema: creditsSchema,
  headers: { 'Cache-Control': '`no-store`.' },
  example: {
    account_id: 42,
    payer_id: 7,
    credits: {
      points_remaining: 8_200,
      overage_points_remaining: 0,
      overuse_points: 0,
      grants: [
        {
          credit_id: 3,
          status: 'active',
          points: 10_000,
          points_remaining: 8_200,
          source: 'purchase',
          priority: 50,
          effective_at: '2026-07-01T12:00:00Z',
          expires_at: '2027-07-01T00:00:00Z',
          note: null,
        },
      ],
    },
  },
};

const DESCRIPTION =
  'Points in addition to the plan’s. For a member of a team these are the manager’s, and `payer_id` is the manager. ' +
  'The figures include all calls that are counted, usually within a second.';

export const publicCredits = {
  title: 'Credits',
  description: 'Points that were bought or given, in addition to the plan’s.',
  operations: [
    operation('GET /api/credits', {
      operationId: 'getCredits',
      summary: "Get the credits that the caller's calls can use",
      description: DESCRIPTION,
      caller: token,
      answers: { 200: CREDITS },
      problems: ['forbidden'],
      handle: (needs: Needs, { by }) => credits(needs, by.account_id),
    }),
    operation('GET /api/console/credits', {
      operationId: 'getOwnCredits',
      summary: 'Get the credits that your calls can use',
      description: DESCRIPTION,
      caller: billingSession,
      answers: { 200: CREDITS },
      handle: (needs: Needs, { by }) => credits(needs, by.account_id),
    }),
  ],
} satisfies Chapter;

async function credits({ query, redisNowMs, overuseMode }: Needs, accountId: number) {
  const found = await findPayerPeriods(query, accountId);
  // A token outlives its account if this database was reset and auth's Redis was kept.
  if (found === undefined) throw invalidToken();
  const { account_id, payer_id } = found;
  const nowMs = redisNowMs();
  const holdings = await findHoldings(query, payer_id, nowMs);
  const { points_remaining, overage_points_remaining, credits: held } = holdings;
  const grants = held.map((credit) => ({
    credit_id: credit.credit_id,
    status: creditStatus(credit, nowMs) === 'scheduled' ? ('scheduled' as const) : ('active' as const),
    points: credit.points,
    points_remaining: credit.points_remaining,
    source: credit.source,
    priority: credit.priority,
    effective_at: isoSeconds(credit.effective_at),
    expires_at: credit.expires_at === null ? null : isoSeconds(credit.expires_at),
    note: account_id === payer_id ? credit.note : null,
  }));
  const overuse_points = overuseMode === 'carry' ? await findCarriedOveruse(query, payer_id) : 0;
  const held_points = { points_remaining, overage_points_remaining, overuse_points };
  const answer = { account_id, payer_id, credits: { ...held_points, grants } };
  return new Reply(200, answer, { 'cache-control': 'no-store' });
}
