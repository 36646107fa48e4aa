import { z } from 'zod';
import { LIMIT_FIELDS, callRulesSchema } from '@tollgate/contracts/entitlement';
import { countField, idField } from '../../http/input/fields.ts';
import { jsonValue } from '../../http/input/json-value.ts';
import { lineSchema, nameSchema } from '../../http/input/name.ts';
import { OVERAGE_FIELD, ROLLOVER_FIELD, overageSchema } from '../periods/limits.ts';
import { decimalsOf } from '../../platform/money/currencies.ts';
import { suggestedLimit } from './suggested-limit.ts';

export const DEFAULT_GRACE_SEC = 3 * 86_400;

/** jsonb cannot hold NUL or half of a surrogate pair. */
function isStorable(value: unknown): boolean {
  if (typeof value === 'string') return value.isWellFormed() && !value.includes('\0');
  if (typeof value !== 'object' || value === null) return true;
  return Object.entries(value).every(([key, member]) => isStorable(key) && isStorable(member));
}

/**
 * Some attributes of a plan. Limits, rules for calls, the points that roll over and the price of further ones have their
 * types, or are null, which means none.
 */
export const attributesSchema = z
  .record(z.string(), jsonValue, 'must be a JSON object')
  .refine(isStorable, 'must contain only valid Unicode without NUL')
  .superRefine((description, context) => {
    for (const field of [...LIMIT_FIELDS, ROLLOVER_FIELD]) {
      const limit = description[field] ?? null;
      if (limit === null || (Number.isSafeInteger(limit) && Number(limit) >= 0)) continue;
      const message = 'must be a whole number of at least 0, or null';
      context.addIssue({ code: 'custom', path: [field], message });
    }
    const overage = description[OVERAGE_FIELD] ?? null;
    if (overage !== null) {
      const message = overageFault(overage);
      if (message !== undefined) context.addIssue({ code: 'custom', path: [OVERAGE_FIELD], message });
    }
    for (const [field, schema] of Object.entries(callRulesSchema.shape)) {
      if (schema.safeParse(description[field] ?? undefined).success) continue;
      const type = schema.unwrap() instanceof z.ZodBoolean ? 'true, false' : 'a whole number of at least 0';
      context.addIssue({ code: 'custom', path: [field], message: `must be ${type}, or null` });
    }
  });

/** All attributes of a plan. */
const descriptionSchema = attributesSchema.superRefine((description, context) => {
  const message = lackOfLimit(description);
  if (message !== undefined) context.addIssue({ code: 'custom', path: [OVERAGE_FIELD], message });
});

/** Further points are beyond included ones. Undefined if the plan sells none, or includes some. */
export function lackOfLimit(description: Record<string, unknown>): string | undefined {
  const isSelling = overageSchema.safeParse(description[OVERAGE_FIELD]).success;
  return isSelling && (description['points_limit'] ?? null) === null ? 'needs a points_limit' : undefined;
}

function overageFault(overage: unknown): string | undefined {
  const { data } = overageSchema.safeParse(overage);
  if (data === undefined || decimalsOf(data.currency) === undefined) {
    return 'must be { price_per_1000, currency }: a whole number in the minor unit, and a lowercase currency code';
  }
  return undefined;
}

/** Allows attributes that look like a mistyped limit, which would limit nothing. */
const allow_unknown = z.boolean('must be true or false').default(false);

export const newPlanSchema = z
  .strictObject({
    name: nameSchema,
    product_id: idField.nullable().default(null),
    description: descriptionSchema,
    grace_sec: countField.default(DEFAULT_GRACE_SEC),
    allow_unknown,
  })
  .superRefine(refuseMistypedLimits)
  .transform(({ allow_unknown: _, ...plan }) => plan);

export const planChangeSchema = z
  .strictObject({
    name: nameSchema.optional(),
    product_id: idField.nullable().optional(),
    description: descriptionSchema.optional(),
    grace_sec: countField.optional(),
    allow_unknown,
  })
  .superRefine(refuseMistypedLimits)
  .transform(({ allow_unknown: _, ...change }) => change);

function refuseMistypedLimits(
  wanted: { description?: Record<string, unknown> | undefined; allow_unknown: boolean },
  context: z.RefinementCtx,
): void {
  if (wanted.allow_unknown) return;
  for (const attribute of Object.keys(wanted.description ?? {})) {
    const limit = suggestedLimit(attribute);
    if (limit === undefined) continue;
    const message = `is not a limit; did you mean ${limit}? Set allow_unknown to keep it`;
    context.addIssue({ code: 'custom', path: ['description', attribute], message });
  }
}

/** What is missing stays as it is; null removes a text or a maximum. */
export const publicationSchema = z.strictObject({
  public_position: countField.optional(),
  price_month: lineSchema.nullable().optional(),
  price_year: lineSchema.nullable().optional(),
  included: z.array(lineSchema, 'must be a list of lines').max(20, 'must have at most 20 lines').optional(),
  team_slot_price: lineSchema.nullable().optional(),
  team_slots_max: countField.nullable().optional(),
});

export const productSchema = z.strictObject({ name: nameSchema });
