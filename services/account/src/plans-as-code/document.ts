import { isMap, isScalar, parseAllDocuments, visit } from 'yaml';
import type { Document, YAMLMap } from 'yaml';
import { z } from 'zod';
import { invalidFields } from '@tollgate/http/invalid-fields';
import type { FieldError } from '@tollgate/http/problem';
import { isWithin } from '../billing/plans/edit-distance.ts';
import { attributesSchema } from '../billing/plans/input.ts';
import { countField } from '../http/input/fields.ts';
import { lineSchema, nameSchema } from '../http/input/name.ts';
import { priceFields, refuseAmount, refusePlanAmount } from '../payments/money/price-input.ts';

/**
 * A file of plans (docs/plans-as-code.md). A member that is left out keeps what is there; null removes it. So no member
 * has a default.
 */

const keyField = z
  .string('must be text')
  .max(60, 'must have at most 60 characters')
  .regex(
    /^[a-z0-9]+(-[a-z0-9]+)*$/,
    'must have lowercase letters and digits, with single hyphens between them',
  );

/** The key that it had before. */
const was = keyField.optional().describe('the key that it had before');
const name = nameSchema.optional();

const productSchema = z.strictObject({ name, was });

const catalogueSchema = z.strictObject({
  position: countField.optional(),
  price_month: lineSchema.nullable().optional(),
  price_year: lineSchema.nullable().optional(),
  included: z.array(lineSchema, 'must be a list of lines').max(20, 'must have at most 20 lines').optional(),
  team_slot_price: lineSchema.nullable().optional(),
  team_slots_max: countField.nullable().optional(),
});

const taxField = z.enum(['exclusive', 'inclusive'], 'must be exclusive or inclusive').optional();
const fileFields = { ...priceFields, tax_behavior: taxField };
const priceSchema = z.strictObject(fileFields).superRefine(refuseAmount);

const slotPricesSchema = z.strictObject({
  month: priceSchema.nullable().optional(),
  year: priceSchema.nullable().optional(),
});

const pricesSchema = slotPricesSchema.extend({
  month: z
    .strictObject(fileFields)
    .superRefine(refusePlanAmount)
    .nullable()
    .optional()
    .describe('an amount of 0 is a free plan'),
});

const planSchema = z.strictObject({
  name,
  was,
  product: keyField.nullable().optional().describe('the key of its product'),
  description: attributesSchema.optional(),
  grace_sec: countField.optional(),
  catalogue: catalogueSchema.nullable().optional().describe('null takes it out of the catalogue'),
  prices: pricesSchema.optional(),
  team_slot_prices: slotPricesSchema.optional().describe('of an additional team slot'),
  archived: z.boolean('must be true or false').optional().describe('not sold any more; default false'),
});

const packSchema = z.strictObject({
  name,
  was,
  points: z.int('must be a whole number').min(1).max(Number.MAX_SAFE_INTEGER).optional(),
  currency: priceFields.currency.optional(),
  unit_amount: priceFields.unit_amount.optional(),
  tax_behavior: taxField,
  expires_after_days: z.int('must be a whole number').min(1).max(36_500).nullable().optional(),
  archived: z.boolean('must be true or false').optional().describe('not sold any more; default false'),
});

const MAPPING = 'must be a mapping of keys';

export const documentSchema = z.strictObject(
  {
    products: z.record(keyField, productSchema, MAPPING).optional(),
    plans: z.record(keyField, planSchema, MAPPING).optional(),
    packs: z.record(keyField, packSchema, MAPPING).optional(),
  },
  'must be a mapping with products, plans and packs',
);

export type PlansDocument = z.output<typeof documentSchema>;
export type WantedProduct = z.output<typeof productSchema>;
export type WantedPlan = z.output<typeof planSchema>;
export type WantedPack = z.output<typeof packSchema>;

/** How many faults an answer lists. */
const MAX_FAULTS = 100;

/** 1 MiB. */
export const SOURCE_MAX_LENGTH = 1_048_576;

/**
 * Reads YAML 1.2 (core schema), or JSON, which is YAML.
 * @throws {Problem} invalid_request with the place of every fault
 */
export function parsePlans(source: string): PlansDocument {
  // The parser would compare each key with all before it: minutes, for a long mapping.
  const documents = parseAllDocuments(source, { version: '1.2', schema: 'core', uniqueKeys: false });
  const [document, ...others] = Array.isArray(documents) ? documents : [];
  if (document === undefined || others.length > 0) throw fault('the file must have one document');
  const faults = yamlFaults(document);
  if (faults.length > 0) throw invalidFields(faults.slice(0, MAX_FAULTS));
  const parsed = documentSchema.safeParse(document.toJS());
  if (parsed.success) return parsed.data;
  throw invalidFields(parsed.error.issues.flatMap(fieldErrors).slice(0, MAX_FAULTS));
}

function fault(message: string) {
  return invalidFields([{ field: 'source', message }]);
}

/** What YAML allows and no file of plans needs: a value could mean another than the reader sees. */
function yamlFaults(document: Document.Parsed): FieldError[] {
  const faults = document.errors.map(({ message }) => message);
  visit(document, {
    Alias: () => {
      faults.push('an alias (*) is not allowed');
    },
    Node: (_, node) => {
      if ('anchor' in node) faults.push('an anchor (&) is not allowed');
      if (node.tag !== undefined) faults.push(`a tag (${node.tag}) is not allowed`);
      if (isMap(node)) faults.push(...repeatedKeys(node));
    },
  });
  return faults.map((message, index) => ({
    field: index === 0 ? 'source' : `source.${String(index)}`,
    message,
  }));
}

function repeatedKeys({ items }: YAMLMap): string[] {
  const seen = new Set<unknown>();
  return items.flatMap(({ key }) => {
    const name = isScalar(key) ? String(key.value) : key;
    if (seen.has(name)) return [`a key is there twice (${String(name)})`];
    seen.add(name);
    return [];
  });
}

/** `unrecognized_keys` names the member that was probably meant. */
function fieldErrors(issue: z.core.$ZodIssue): FieldError[] {
  const field = issue.path.join('.');
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.slice(0, MAX_FAULTS).map((key) => ({
      field: [...issue.path, key].join('.'),
      message: `is not known here${meant(key, issue.path)}`,
    }));
  }
  if (issue.code === 'invalid_key')
    return issue.issues.map(({ message }) => ({ field, message: `the key ${message}` }));
  return [{ field, message: issue.message }];
}

const ENTRIES = { products: productSchema, plans: planSchema, packs: packSchema };

/** The members that can stand at a path of the file. */
function membersAt([kind, key, member, interval]: readonly PropertyKey[]): string[] {
  if (kind === undefined) return Object.keys(documentSchema.shape);
  if (member === 'catalogue') return Object.keys(catalogueSchema.shape);
  if (member === 'prices' || member === 'team_slot_prices') {
    return Object.keys((interval === undefined ? pricesSchema : priceSchema).shape);
  }
  const isEntry = key !== undefined && member === undefined;
  return isEntry && Object.hasOwn(ENTRIES, kind)
    ? Object.keys(ENTRIES[kind as keyof typeof ENTRIES].shape)
    : [];
}

function meant(key: string, path: readonly PropertyKey[]): string {
  const members = membersAt(path);
  const nearest = [0, 1, 2].flatMap((edits) =>
    members.filter((member) => isWithin(edits, lettersOf(member), lettersOf(key))),
  )[0];
  return nearest === undefined ? '' : `; did you mean ${nearest}?`;
}

/** The same for `grace_sec`, `grace-sec` and `graceSec`. */
function lettersOf(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z]/g, '');
}
