import { isDeepStrictEqual } from 'node:util';
import { LIMIT_FIELDS, callRulesSchema } from '@tollgate/contracts/entitlement';
import { invalidFields } from '@tollgate/http/invalid-fields';
import type { FieldError } from '@tollgate/http/problem';
import type { BillingInterval } from '../billing/periods/calendar.ts';
import { overagePrice } from '../billing/periods/limits.ts';
import { DEFAULT_GRACE_SEC, lackOfLimit } from '../billing/plans/input.ts';
import { suggestedLimit } from '../billing/plans/suggested-limit.ts';
import { amountFault } from '../platform/money/currencies.ts';
import type { PlansDocument, WantedPack, WantedPlan, WantedProduct } from './document.ts';
import type { PlansState, StatedPack, StatedPlan, StatedPrices, StatedProduct } from './state.ts';

/** What has to be allowed by itself, since a slip there costs most. */
export const ALLOWANCES = ['unlimited', 'prices'] as const;
export type Allowance = (typeof ALLOWANCES)[number];

export type FieldChange = { field: string; before: unknown; after: unknown; needs: Allowance | null };

type Kind = 'product' | 'plan' | 'pack';

/** `replace`: a pack is never edited, so the one before is withdrawn. */
export type Action = 'create' | 'change' | 'replace' | 'archive' | 'restore';

type ChangeOf<K extends Kind, Stated> = {
  kind: K;
  key: string;
  action: Action;
  fields: FieldChange[];
  /** Whether it isn't in the file, and goes with `prune`. */
  pruned: boolean;
  /** Undefined if it is created. */
  before: Stated | undefined;
  /** As it shall be; undefined if it is archived only. */
  after: Omit<Stated, 'product_id' | 'plan_id' | 'pack_id' | 'managed'> | undefined;
};

export type ProductChange = ChangeOf<'product', StatedProduct>;
export type PlanChange = ChangeOf<'plan', StatedPlan> & {
  /** The key of its product, which may be created with it. */
  product: string | null;
};
export type PackChange = ChangeOf<'pack', StatedPack>;

export type Differences = {
  products: ProductChange[];
  plans: PlanChange[];
  packs: PackChange[];
  /** What the file names and doesn't change: it is managed from now on. */
  named: { products: number[]; plans: number[]; packs: number[] };
};

/**
 * What a file would change.
 * @throws {Problem} invalid_request, with the path of each fault in the file
 */
export function differences(
  state: PlansState,
  document: PlansDocument,
  { prune }: { prune: boolean },
): Differences {
  const faults: FieldError[] = [];
  const products = matched('products', state.products, document.products, faults);
  const plans = matched('plans', state.plans, document.plans, faults);
  const packs = matched('packs', state.packs, document.packs, faults);
  const keyOfProduct = new Map(
    state.products.map(({ product_id, key }) => [
      product_id,
      products.find(({ before }) => before?.product_id === product_id)?.key ?? key,
    ]),
  );
  const productKeys = new Set([...keyOfProduct.values(), ...products.map(({ key }) => key)]);
  const found: Differences = {
    products: products.flatMap((each) => productChange(each, faults)),
    plans: plans.flatMap((each) => planChange(each, { productKeys, keyOfProduct }, faults)),
    packs: packs.flatMap((each) => packChange(each, faults)),
    named: {
      products: products.flatMap(({ before }) => before?.product_id ?? []),
      plans: plans.flatMap(({ before }) => before?.plan_id ?? []),
      packs: packs.flatMap(({ before }) => before?.pack_id ?? []),
    },
  };
  refuseTakenNames('products', state.products, found.products, faults);
  refuseTakenNames('plans', state.plans, found.plans, faults);
  if (faults.length > 0) throw invalidFields(faults);
  if (!prune) return found;
  const isPruned = (named: readonly number[], id: number, managed: boolean) => managed && !named.includes(id);
  const goingPlans = state.plans.filter(
    ({ plan_id, managed, is_archived }) => !is_archived && isPruned(found.named.plans, plan_id, managed),
  );
  const goingPacks = state.packs.filter(({ pack_id, managed }) =>
    isPruned(found.named.packs, pack_id, managed),
  );
  return {
    ...found,
    plans: [
      ...found.plans,
      ...goingPlans.map((before) => ({ ...archived('plan', before), product: null, pruned: true })),
    ],
    packs: [...found.packs, ...goingPacks.map((before) => ({ ...archived('pack', before), pruned: true }))],
  };
}

/** What the changes need to be allowed, each once. */
export function neededAllowances({ products, plans, packs }: Differences): Allowance[] {
  const needed = [...products, ...plans, ...packs].flatMap(({ fields }) => fields.map(({ needs }) => needs));
  return ALLOWANCES.filter((allowance) => needed.includes(allowance));
}

type Matched<Stated, Wanted> = { key: string; before: Stated | undefined; wanted: Wanted };

/** Which entry of the file is which row: by its key, or by the key that it had before. */
function matched<Stated extends { key: string }, Wanted extends { was?: string | undefined }>(
  kind: string,
  stated: readonly Stated[],
  wanted: Readonly<Record<string, Wanted>> | undefined,
  faults: FieldError[],
): Matched<Stated, Wanted>[] {
  const entries = Object.entries(wanted ?? {});
  const byKey = new Map(stated.map((each) => [each.key, each]));
  return entries.map(([key, entry]) => {
    const present = byKey.get(key);
    if (entry.was === undefined) return { key, before: present, wanted: entry };
    const former = byKey.get(entry.was);
    const field = `${kind}.${key}.was`;
    if (wanted !== undefined && Object.hasOwn(wanted, entry.was))
      faults.push({ field, message: 'is a key of the file, too' });
    if (entries.some(([other, { was }]) => was === entry.was && other !== key))
      faults.push({ field, message: 'is the former key of another entry, too' });
    // A file that was applied before.
    if (present !== undefined && former === undefined) return { key, before: present, wanted: entry };
    if (present !== undefined) faults.push({ field, message: `there are both ${entry.was} and ${key}` });
    if (former === undefined) faults.push({ field, message: `there is no ${entry.was}` });
    return { key, before: former, wanted: entry };
  });
}

function productChange(
  { key, before, wanted }: Matched<StatedProduct, WantedProduct>,
  faults: FieldError[],
): ProductChange[] {
  const name = wanted.name ?? before?.name;
  if (name === undefined) faults.push(missing(`products.${key}.name`));
  const after = { key, name: name ?? '' };
  const fields = changesOf(before === undefined ? undefined : { key: before.key, name: before.name }, after);
  return changed({ kind: 'product', key, before, after, fields });
}

function planChange(
  { key, before, wanted }: Matched<StatedPlan, WantedPlan>,
  {
    productKeys,
    keyOfProduct,
  }: { productKeys: ReadonlySet<string>; keyOfProduct: ReadonlyMap<number, string> },
  faults: FieldError[],
): PlanChange[] {
  const path = `plans.${key}`;
  const name = wanted.name ?? before?.name;
  if (name === undefined) faults.push(missing(`${path}.name`));
  faults.push(...mistypedLimits(path, before, wanted));
  const productBefore = keyOfProduct.get(before?.product_id ?? 0) ?? null;
  const product = wanted.product === undefined ? productBefore : wanted.product;
  if (product !== null && !productKeys.has(product)) {
    faults.push({ field: `${path}.product`, message: `there is no product ${product}` });
  }
  const isArchived = wanted.archived === true;
  const listing = listingOf(before, wanted, isArchived);
  if (isArchived && (wanted.catalogue ?? null) !== null) {
    faults.push({ field: `${path}.catalogue`, message: 'an archived plan is not in the catalogue' });
  }
  if (listing.public_position !== null && listing.price_month === null && listing.price_year === null) {
    faults.push({ field: `${path}.catalogue.price_month`, message: 'or price_year is required' });
  }
  const after = {
    key,
    name: name ?? '',
    description: merged(before?.description, wanted.description),
    grace_sec: wanted.grace_sec ?? before?.grace_sec ?? DEFAULT_GRACE_SEC,
    ...listing,
    prices: pricesOf(before?.prices, wanted.prices),
    team_slot_prices: pricesOf(before?.team_slot_prices, wanted.team_slot_prices),
    is_archived: isArchived,
  };
  const lack = lackOfLimit(after.description);
  if (lack !== undefined) faults.push({ field: `${path}.description.overage`, message: lack });
  faults.push(...currencyFaults(path, after));
  const fields = changesOf(
    before === undefined ? undefined : comparedPlan({ ...before, product: productBefore }),
    comparedPlan({ ...after, product }),
  );
  return changed({ kind: 'plan', key, before, after, fields }).map((change) => ({
    ...change,
    product,
    action:
      change.action === 'change' && before?.is_archived !== isArchived
        ? isArchived
          ? 'archive'
          : 'restore'
        : change.action,
  }));
}

/** Attributes that would limit nothing. Unlike the API, a file can't add them. */
function mistypedLimits(
  path: string,
  before: StatedPlan | undefined,
  { description = {} }: WantedPlan,
): FieldError[] {
  return Object.keys(description).flatMap((attribute) => {
    const isThere = before !== undefined && Object.hasOwn(before.description, attribute);
    const limit = isThere ? undefined : suggestedLimit(attribute);
    if (limit === undefined) return [];
    const field = `${path}.description.${attribute}`;
    return [{ field, message: `is not a limit; did you mean ${limit}?` }];
  });
}

type Listing = Pick<
  StatedPlan,
  'public_position' | 'price_month' | 'price_year' | 'included' | 'team_slot_price' | 'team_slots_max'
>;

const UNLISTED: Listing = {
  public_position: null,
  price_month: null,
  price_year: null,
  included: [],
  team_slot_price: null,
  team_slots_max: null,
};

function listingOf(before: Listing = UNLISTED, { catalogue }: WantedPlan, isArchived: boolean): Listing {
  const { public_position, price_month, price_year, included, team_slot_price, team_slots_max } = before;
  const kept = { public_position, price_month, price_year, included, team_slot_price, team_slots_max };
  if (isArchived || catalogue === null) return { ...kept, public_position: null };
  if (catalogue === undefined) return kept;
  const { position = public_position ?? 0, ...stated } = catalogue;
  return { ...kept, ...defined(stated), public_position: position };
}

function defined<T extends object>(members: T): Partial<{ [Name in keyof T]: Exclude<T[Name], undefined> }> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as Partial<{
    [Name in keyof T]: Exclude<T[Name], undefined>;
  }>;
}

function pricesOf(before: StatedPrices = {}, prices: WantedPlan['prices'] = {}): StatedPrices {
  const intervals: BillingInterval[] = ['month', 'year'];
  return Object.fromEntries(
    intervals.flatMap((interval) => {
      const wanted = prices[interval];
      const former = before[interval];
      if (wanted === undefined) return former === undefined ? [] : [[interval, former] as const];
      if (wanted === null) return [];
      const tax_behavior = wanted.tax_behavior ?? former?.tax_behavior ?? 'exclusive';
      return [[interval, { ...wanted, tax_behavior }] as const];
    }),
  );
}

/** What a subscriber pays has one currency, since an invoice has. */
function currencyFaults(
  path: string,
  { prices, team_slot_prices, description }: Pick<StatedPlan, 'prices' | 'team_slot_prices' | 'description'>,
): FieldError[] {
  const overage = overagePrice(description);
  return (['month', 'year'] as const).flatMap((interval) => {
    const currency = prices[interval]?.currency;
    if (currency === undefined) return [];
    const message = `must be ${currency}, the currency of prices.${interval}`;
    const others = {
      [`team_slot_prices.${interval}.currency`]: team_slot_prices[interval]?.currency,
      'description.overage': overage?.currency,
    };
    return Object.entries(others)
      .filter(([, other]) => other !== undefined && other !== currency)
      .map(([field]) => ({ field: `${path}.${field}`, message }));
  });
}

/** An attribute that is null in the file is no attribute. */
function merged(
  before: Record<string, unknown> = {},
  wanted: Record<string, unknown> = {},
): Record<string, unknown> {
  return Object.fromEntries(Object.entries({ ...before, ...wanted }).filter(([, value]) => value !== null));
}

/** By the paths of the file. */
function comparedPlan(
  plan: Omit<StatedPlan, 'plan_id' | 'product_id' | 'managed'> & { product: string | null },
) {
  const { key, name, product, description, grace_sec, is_archived, prices, team_slot_prices } = plan;
  const { public_position, price_month, price_year, included, team_slot_price, team_slots_max } = plan;
  return {
    key,
    name,
    product,
    ...prefixed('description', description),
    grace_sec,
    // Of an archived plan it means nothing, and the API keeps it.
    'catalogue.position': is_archived ? null : public_position,
    'catalogue.price_month': price_month,
    'catalogue.price_year': price_year,
    'catalogue.included': included,
    'catalogue.team_slot_price': team_slot_price,
    'catalogue.team_slots_max': team_slots_max,
    'prices.month': prices.month ?? null,
    'prices.year': prices.year ?? null,
    'team_slot_prices.month': team_slot_prices.month ?? null,
    'team_slot_prices.year': team_slot_prices.year ?? null,
    archived: is_archived,
  };
}

function prefixed(prefix: string, members: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(members).map(([member, value]) => [`${prefix}.${member}`, value]));
}

function packChange(
  { key, before, wanted }: Matched<StatedPack, WantedPack>,
  faults: FieldError[],
): PackChange[] {
  if (wanted.archived === true) return before === undefined ? [] : [archived('pack', before)];
  const path = `packs.${key}`;
  const { name = before?.name, points = before?.points, currency = before?.currency } = wanted;
  const { unit_amount = before?.unit_amount } = wanted;
  for (const [member, value] of Object.entries({ name, points, currency, unit_amount })) {
    if (value === undefined) faults.push(missing(`${path}.${member}`));
  }
  const message =
    unit_amount === undefined || currency === undefined ? undefined : amountFault(unit_amount, currency);
  if (message !== undefined) faults.push({ field: `${path}.unit_amount`, message });
  const after = {
    key,
    name: name ?? '',
    points: points ?? 1,
    currency: currency ?? '',
    unit_amount: unit_amount ?? 0,
    tax_behavior: wanted.tax_behavior ?? before?.tax_behavior ?? 'exclusive',
    expires_after_days:
      wanted.expires_after_days === undefined
        ? (before?.expires_after_days ?? null)
        : wanted.expires_after_days,
  };
  const { pack_id: _, managed: _managed, ...compared } = before ?? { pack_id: 0, managed: false };
  const fields = changesOf(before === undefined ? undefined : compared, after);
  return changed({ kind: 'pack', key, before, after, fields }).map((change) => ({
    ...change,
    action:
      change.action === 'change' && fields.some(({ field }) => field !== 'key') ? 'replace' : change.action,
  }));
}

function archived<K extends Kind, Stated extends { key: string }>(
  kind: K,
  before: Stated,
): ChangeOf<K, Stated> {
  const fields = [{ field: 'archived', before: false, after: true, needs: null }];
  return { kind, key: before.key, action: 'archive', fields, pruned: false, before, after: undefined };
}

function changed<K extends Kind, Stated>(
  change: Pick<ChangeOf<K, Stated>, 'kind' | 'key' | 'before' | 'after' | 'fields'>,
): ChangeOf<K, Stated>[] {
  if (change.before === undefined) return [{ ...change, action: 'create', pruned: false }];
  return change.fields.length === 0 ? [] : [{ ...change, action: 'change', pruned: false }];
}

function changesOf(
  before: Readonly<Record<string, unknown>> | undefined,
  after: Readonly<Record<string, unknown>>,
): FieldChange[] {
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after)])];
  return names.flatMap((field) => {
    const [was, is] = [before?.[field] ?? null, after[field] ?? null];
    if (isDeepStrictEqual(was, is)) return [];
    const needs = before === undefined ? null : neededFor(field, was, is);
    return [{ field, before: was, after: is, needs }];
  });
}

/** Of calls, too. Without one, the gateway's setting holds, which may be none. */
const LIMITS: ReadonlySet<string> = new Set(
  [...LIMIT_FIELDS, ...Object.keys(callRulesSchema.shape).filter((rule) => /_limit$|_max_/.test(rule))].map(
    (limit) => `description.${limit}`,
  ),
);
/** 0 turns these off. */
const GUARDS = /^description\.graphql_max_/;
const PRICES =
  /^(prices\.|team_slot_prices\.|description\.overage$|catalogue\.(price|team_slot_price)|currency$|unit_amount$|tax_behavior$|points$)/;

function neededFor(field: string, before: unknown, after: unknown): Allowance | null {
  if (LIMITS.has(field) && before !== null && after === null) return 'unlimited';
  if (GUARDS.test(field) && after === 0) return 'unlimited';
  return PRICES.test(field) && before !== null ? 'prices' : null;
}

/** Of those that the file leaves, and of one another. */
function refuseTakenNames(
  kind: string,
  stated: readonly { key: string; name: string }[],
  changes: readonly {
    key: string;
    before: { key: string } | undefined;
    after: { name: string } | undefined;
  }[],
  faults: FieldError[],
): void {
  const moved = new Set(changes.map(({ before }) => before?.key));
  const taken = new Set(stated.filter(({ key }) => !moved.has(key)).map(({ name }) => name));
  for (const { key, after } of changes) {
    if (after === undefined) continue;
    if (taken.has(after.name)) faults.push({ field: `${kind}.${key}.name`, message: 'is taken' });
    taken.add(after.name);
  }
}

function missing(field: string): FieldError {
  return { field, message: 'is required for a new one' };
}
