import { z } from 'zod';
import { LIMIT_FIELDS } from '@tollgate/contracts/entitlement';
import { countField, idField } from '../../http/input/fields.ts';
import { nameSchema } from '../../http/input/name.ts';
import { suggestedLimit } from './suggested-limit.ts';

/** Three days. */
const DEFAULT_GRACE_SEC = 259_200;

/** What jsonb can't hold: NUL, and half of a surrogate pair. */
function isStorable(value: unknown): boolean {
  if (typeof value === 'string') return value.isWellFormed() && !value.includes('\0');
  if (typeof value !== 'object' || value === null) return true;
  return Object.entries(value).every(([key, member]) => isStorable(key) && isStorable(member));
}

/** Any attributes; those that are limits are whole numbers, or null, which means the same as their absence. */
const descriptionSchema = z
  .record(z.string(), z.json('must be JSON'), 'must be a JSON object')
  .refine(isStorable, 'must be Unicode text without NUL throughout')
  .superRefine((description, context) => {
    for (const field of LIMIT_FIELDS) {
      const limit = description[field] ?? null;
      if (limit === null || (Number.isSafeInteger(limit) && Number(limit) >= 0)) continue;
      const message = 'must be a whole number of at least 0, or null';
      context.addIssue({ code: 'custom', path: [field], message });
    }
  });

/** Keeps attributes that look like a mistyped limit, which are refused otherwise: the plan wouldn't be limited. */
const allow_unknown = z.boolean('must be true or false').default(false);

/** Body of `POST /private/plans`. */
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

/** Body of `PATCH /private/plans/{plan_id}`. */
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
    const message = `is no limit: did you mean ${limit}? With allow_unknown it is kept as it is`;
    context.addIssue({ code: 'custom', path: ['description', attribute], message });
  }
}

/** Body of `POST /private/products` and of `PATCH /private/products/{product_id}`. */
export const productSchema = z.strictObject({ name: nameSchema });
