import { createHash } from 'node:crypto';
import { z } from 'zod';
import { Problem } from '@tollgate/http/problem';
import { operation } from '@tollgate/operation';
import type { Chapter } from '@tollgate/operation';
import { operator } from '../platform/audit/private-callers.ts';
import { isUniqueViolation } from '../platform/database/query.ts';
import type { Query, Transact } from '../platform/database/query.ts';
import { findAffected } from './affected.ts';
import type { Affected, LoweredLimits } from './affected.ts';
import { applyDifferences } from './apply.ts';
import { ALLOWANCES, differences, neededAllowances } from './differences.ts';
import type { Allowance, Differences, FieldChange, PlanChange } from './differences.ts';
import { SOURCE_MAX_LENGTH, parsePlans } from './document.ts';
import { exportPlans } from './export.ts';
import { digestOf, lockPlans, readPlans } from './state.ts';

export type PlansAsCodeNeeds = {
  transact: Transact;
  /** All statements see one moment. */
  creditChecks: Transact;
  /** The setting SIGN_UP_PLAN; null without. */
  signUpPlanSetting: string | null;
};

const sourceFields = {
  source: z
    .string('must be text')
    .max(SOURCE_MAX_LENGTH, `must have at most ${String(SOURCE_MAX_LENGTH)} characters`)
    .meta({ description: 'The file: YAML 1.2 or JSON (docs/plans-as-code.md).' }),
  prune: z.boolean('must be true or false').default(false).meta({
    description:
      'Archive plans and withdraw packs that a file has made or named before, and this one doesn’t.',
  }),
};

export const applySchema = z.strictObject({
  ...sourceFields,
  digest: z.string('must be text').optional().meta({
    description: 'Of the differences that were looked at; refused if they aren’t the same any more.',
  }),
  allow: z
    .array(z.enum(ALLOWANCES, `must be one of ${ALLOWANCES.join(', ')}`))
    .default([])
    .meta({ description: '`unlimited`: a limit is removed; `prices`: a price changes.' }),
  expect_pruned: z
    .int('must be a whole number')
    .optional()
    .meta({ description: 'Required with `prune` if there is anything to prune: how many.' }),
});

const affectedSchema = z
  .object({
    subscriptions: z.int().meta({ description: 'They get the change with their next period.' }),
    current_periods: z.int().meta({ description: 'They keep what they were sold with.' }),
    unstarted_periods: z.int().meta({ description: 'Opened ahead: they get the change.' }),
    periods_over_limit: z.int().meta({
      description: 'Current periods that have used more points, time or traffic than a lowered limit.',
    }),
    is_sign_up_plan: z.boolean(),
    is_in_catalogue: z.boolean(),
  })
  .meta({ id: 'AffectedByPlan' });

const changeSchema = z
  .object({
    kind: z.enum(['product', 'plan', 'pack']),
    key: z.string(),
    action: z.enum(['create', 'change', 'replace', 'archive', 'restore']),
    pruned: z.boolean().meta({ description: 'Whether the file doesn’t name it.' }),
    fields: z.array(
      z.object({
        field: z.string().meta({ description: 'As in the file.' }),
        before: z.unknown(),
        after: z.unknown(),
        needs: z.enum(ALLOWANCES).nullable().meta({ description: 'What `allow` must have.' }),
      }),
    ),
    affected: affectedSchema.nullable().meta({ description: 'Of plans that are there.' }),
  })
  .meta({ id: 'PlansChange' });

const differencesSchema = z.object({
  digest: z.string().meta({ description: 'Of what is there now: another one means that it has changed.' }),
  changes: z.array(changeSchema),
  needs: z.array(z.enum(ALLOWANCES)),
  pruned: z
    .int()
    .meta({ description: 'How many changes are of plans and packs that the file doesn’t name.' }),
});

const EXAMPLE = 'plans:\n  starter:\n    name: Starter\n    description: { points_limit: 100000 }\n';

export const operatorPlansAsCode = {
  title: 'Plans as code',
  description:
    'Products, plans and packs from a file. What the file leaves out stays; running billing periods never change.',
  operations: [
    operation('GET /private/plans-as-code', {
      operationId: 'exportPlans',
      summary: 'Export products, plans and packs as a file',
      description: 'Applying it changes nothing.',
      caller: operator,
      roles: ['viewer'],
      answers: { 200: { description: 'The file.', schema: z.object({ source: z.string() }) } },
      handle: async ({ creditChecks }: PlansAsCodeNeeds) => ({
        source: exportPlans(await creditChecks(readPlans)),
      }),
    }),
    operation('POST /private/plans-as-code/diff', {
      operationId: 'diffPlans',
      summary: 'Show what a file would change, and whom',
      caller: operator,
      roles: ['viewer'],
      body: z.strictObject(sourceFields),
      maxBodyBytes: 4 * SOURCE_MAX_LENGTH,
      example: { source: EXAMPLE },
      answers: { 200: { description: 'The differences.', schema: differencesSchema } },
      handle: ({ creditChecks, signUpPlanSetting }: PlansAsCodeNeeds, { body }) =>
        creditChecks(async (query) => (await compare(query, body, signUpPlanSetting)).answer),
    }),
    operation('POST /private/plans-as-code/apply', {
      operationId: 'applyPlans',
      summary: 'Apply a file',
      description: 'All of it, or nothing. Two at a time wait for each other.',
      caller: operator,
      roles: ['admin'],
      body: applySchema,
      maxBodyBytes: 4 * SOURCE_MAX_LENGTH,
      example: { source: EXAMPLE },
      answers: { 200: { description: 'What was changed.', schema: differencesSchema } },
      problems: ['changed_meanwhile', 'allowance_required'],
      handle: ({ transact, signUpPlanSetting }: PlansAsCodeNeeds, { by, body }) =>
        transact(async (query) => {
          await lockPlans(query);
          const { found, answer } = await compare(query, body, signUpPlanSetting);
          const { digest = answer.digest, expect_pruned = 0 } = body;
          if (digest !== answer.digest || expect_pruned !== answer.pruned)
            throw new Problem('changed_meanwhile');
          refuseUnlessAllowed(answer.needs, body.allow);
          const fileSha256 = createHash('sha256').update(body.source).digest('hex');
          await applyDifferences(query, found, { by: by.actor, fileSha256 });
          return answer;
        }).catch(refuseTaken),
    }),
  ],
} satisfies Chapter;

/** Rows that were not there can't be locked: a name or a key was taken after the comparison. */
function refuseTaken(error: unknown): never {
  const isTaken = isUniqueViolation(error) || (error instanceof Problem && error.code === 'name_taken');
  throw isTaken ? new Problem('changed_meanwhile') : error;
}

function refuseUnlessAllowed(needed: readonly Allowance[], allowed: readonly Allowance[]): void {
  const missing = needed.filter((each) => !allowed.includes(each));
  if (missing.length === 0) return;
  throw new Problem('allowance_required', {
    detail: `The file ${missing.map((each) => ALLOWANCE_MEANS[each]).join(' and ')}; \`allow\` must have ${missing.join(', ')}.`,
    extensions: { needs: missing },
  });
}

const ALLOWANCE_MEANS = {
  unlimited: 'removes a limit',
  prices: 'changes a price',
} as const satisfies Record<Allowance, string>;

async function compare(
  query: Query,
  { source, prune }: { source: string; prune: boolean },
  signUpPlan: string | null,
): Promise<{ found: Differences; answer: z.input<typeof differencesSchema> }> {
  const document = parsePlans(source);
  const state = await readPlans(query);
  const found = differences(state, document, { prune });
  const affected = await affectedBy(query, found.plans, signUpPlan);
  const { products, plans, packs } = found;
  const changes = [...products, ...plans, ...packs].map(({ kind, key, action, pruned, fields, before }) => ({
    kind,
    key,
    action,
    pruned,
    fields,
    affected: before !== undefined && 'plan_id' in before ? (affected.get(before.plan_id) ?? null) : null,
  }));
  const pruned = changes.filter((change) => change.pruned).length;
  return { found, answer: { digest: digestOf(state), changes, needs: neededAllowances(found), pruned } };
}

/** Null if it isn't lowered; one that there was not is. */
function loweredTo(fields: readonly FieldChange[], limit: keyof LoweredLimits): number | null {
  const { before, after } = fields.find(({ field }) => field === `description.${limit}`) ?? {};
  if (typeof after !== 'number' || (typeof before === 'number' && after >= before)) return null;
  return after;
}

function affectedBy(
  query: Query,
  changes: readonly PlanChange[],
  signUpPlan: string | null,
): Promise<Map<number, Affected>> {
  const wanted = changes.flatMap(({ before, fields }) => {
    if (before === undefined) return [];
    return [
      {
        plan_id: before.plan_id,
        points_limit: loweredTo(fields, 'points_limit'),
        time_sec_limit: loweredTo(fields, 'time_sec_limit'),
        traffic_bytes_limit: loweredTo(fields, 'traffic_bytes_limit'),
      },
    ];
  });
  return findAffected(query, wanted, signUpPlan);
}
