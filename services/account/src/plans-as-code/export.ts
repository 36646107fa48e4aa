import { Document, isMap } from 'yaml';
import type { YAMLMap } from 'yaml';
import { DEFAULT_GRACE_SEC } from '../billing/plans/input.ts';
import type { PlansState, StatedPlan } from './state.ts';

/** What a value is if the file doesn't state it for something new. */
const DEFAULTS: Readonly<Record<string, unknown>> = {
  grace_sec: DEFAULT_GRACE_SEC,
  tax_behavior: 'exclusive',
  expires_after_days: null,
};

const HEAD = ` Products, plans and packs of this installation. \`tollgate apply -f FILE\` applies it.`;

/**
 * A file that changes nothing if it is applied: without ids and dates, by key. Packs that were withdrawn are left out.
 */
export function exportPlans({ products, plans, packs }: PlansState): string {
  const keyOfProduct = new Map(products.map(({ product_id, key }) => [product_id, key]));
  const document = new Document({
    products: byKey(products, ({ name }) => ({ name })),
    plans: byKey(plans, (plan) => exportedPlan(plan, keyOfProduct)),
    packs: byKey(packs, ({ name, points, currency, unit_amount, tax_behavior, expires_after_days }) => ({
      name,
      points,
      currency,
      unit_amount,
      tax_behavior,
      expires_after_days,
    })),
  });
  document.commentBefore = HEAD;
  commentDefaults(document.contents as YAMLMap);
  return document.toString({ lineWidth: 0 });
}

function byKey<Row extends { key: string }>(rows: readonly Row[], exported: (row: Row) => object): object {
  const sorted = rows.toSorted((one, other) => (one.key < other.key ? -1 : 1));
  return Object.fromEntries(sorted.map((row) => [row.key, exported(row)]));
}

function exportedPlan(plan: StatedPlan, keyOfProduct: ReadonlyMap<number, string>): object {
  const { name, product_id, description, grace_sec, is_archived, prices, team_slot_prices } = plan;
  const { public_position, price_month, price_year, included, team_slot_price, team_slots_max } = plan;
  const listing = { price_month, price_year, included, team_slot_price, team_slots_max };
  return {
    name,
    product: product_id === null ? null : keyOfProduct.get(product_id),
    description: Object.fromEntries(Object.entries(description).filter(([, value]) => value !== null)),
    grace_sec,
    ...(is_archived
      ? { archived: true }
      : { catalogue: public_position === null ? null : { position: public_position, ...listing } }),
    ...(Object.keys(prices).length === 0 ? {} : { prices }),
    ...(Object.keys(team_slot_prices).length === 0 ? {} : { team_slot_prices }),
  };
}

function commentDefaults(map: YAMLMap): void {
  for (const { key, value } of map.items) {
    if (isMap(value)) commentDefaults(value);
    const name = String(key);
    const { value: scalar } = value as { value?: unknown; comment?: string };
    if (name in DEFAULTS && scalar === DEFAULTS[name])
      (value as { comment?: string }).comment = ' the default';
  }
}
