import type { Actor, AuditEntry } from '../platform/audit/audit-log.ts';
import { recordAudit } from '../platform/audit/audit-log.ts';
import type { Change } from '../platform/audit/change.ts';
import {
  insertPlan,
  insertProduct,
  lockPlan,
  refreshUnstartedPeriods,
  renameProduct,
  storePlan,
} from '../billing/plans/store.ts';
import { insertPack, withdraw } from '../payments/packs/store.ts';
import { planPrices, slotPrices } from '../payments/prices/store.ts';
import { databaseNow } from '../platform/database/clock.ts';
import type { Query } from '../platform/database/query.ts';
import type {
  Action,
  Differences,
  FieldChange,
  PackChange,
  PlanChange,
  ProductChange,
} from './differences.ts';
import { freeNames, productIds, setKey, setManaged } from './store.ts';

/** Who applies which file. */
export type Applied = { by: Actor; fileSha256: string };

/**
 * Carries out the differences, in the transaction in which they were found. Each changed product, plan and pack has an
 * entry in the audit log. Running periods stay as they are; those that were opened ahead change.
 */
export async function applyDifferences(query: Query, found: Differences, applied: Applied): Promise<void> {
  const renamed = <Id extends string>(
    changes: readonly {
      before?: ({ name: string } & Record<Id, number>) | undefined;
      after?: { name: string } | undefined;
    }[],
    id: Id,
  ) =>
    changes.flatMap(({ before, after }) => (before && after && before.name !== after.name ? before[id] : []));
  await freeNames(query, 'products', renamed(found.products, 'product_id'));
  await freeNames(query, 'plans', renamed(found.plans, 'plan_id'));
  for (const change of found.products) await applyProduct(query, change, applied);
  const idOfProduct = await productIds(query);
  for (const change of found.plans) await applyPlan(query, change, { idOfProduct, applied });
  for (const change of found.packs) await applyPack(query, change, applied);
  for (const kind of ['products', 'plans', 'packs'] as const)
    await setManaged(query, kind, found.named[kind]);
}

async function applyProduct(query: Query, change: ProductChange, applied: Applied): Promise<void> {
  const { before, after } = change;
  if (after === undefined) return;
  const { product_id } = before ?? (await insertProduct(query, after.name));
  if (before !== undefined) await renameProduct(query, product_id, after.name);
  await setKey(query, 'products', product_id, after.key);
  const action = before === undefined ? 'product_created' : 'product_changed';
  await record(query, applied, { action, key: after.key, fields: change.fields, ids: { product_id } });
}

const PLAN_ACTIONS = {
  create: 'plan_created',
  change: 'plan_changed',
  replace: 'plan_changed',
  archive: 'plan_archived',
  restore: 'plan_restored',
} as const satisfies Record<Action, AuditEntry['action']>;

async function applyPlan(
  query: Query,
  change: PlanChange,
  { idOfProduct, applied }: { idOfProduct: ReadonlyMap<string, number>; applied: Applied },
): Promise<void> {
  const { before, after } = change;
  const plan_id = before?.plan_id ?? (await newPlan(query, change));
  const stored = await lockPlan(query, plan_id);
  const isArchived = after?.is_archived ?? true;
  const archived_at = isArchived ? (stored.archived_at ?? (await databaseNow(query))) : null;
  if (after === undefined) {
    await storePlan(query, { ...stored, archived_at, public_position: null });
  } else {
    const { name, description, grace_sec } = after;
    const { public_position, price_month, price_year, included, team_slot_price, team_slots_max } = after;
    const listing = { public_position, price_month, price_year, included, team_slot_price, team_slots_max };
    const product_id = change.product === null ? null : (idOfProduct.get(change.product) ?? null);
    await storePlan(query, { ...stored, name, description, grace_sec, product_id, ...listing, archived_at });
    await refreshUnstartedPeriods(query, plan_id);
    await setKey(query, 'plans', plan_id, after.key);
    await applyPrices(query, plan_id, change);
  }
  const action = PLAN_ACTIONS[change.action];
  await record(query, applied, { action, key: change.key, fields: change.fields, ids: { plan_id } });
}

async function newPlan(query: Query, { after }: PlanChange): Promise<number> {
  if (after === undefined) throw new Error('a plan that is not there cannot be archived');
  const { name, description, grace_sec } = after;
  return (await insertPlan(query, { name, description, grace_sec, product_id: null })).plan_id;
}

async function applyPrices(query: Query, plan_id: number, { fields, after }: PlanChange): Promise<void> {
  for (const [member, table] of [
    ['prices', planPrices],
    ['team_slot_prices', slotPrices],
  ] as const) {
    for (const billing_interval of ['month', 'year'] as const) {
      if (!fields.some(({ field }) => field === `${member}.${billing_interval}`)) continue;
      const price = after?.[member][billing_interval];
      if (price === undefined) await table.withdraw(query, { plan_id, billing_interval });
      else await table.replace(query, { plan_id, billing_interval, ...price });
    }
  }
}

/** A pack that is bought meanwhile is granted as it was sold. */
async function applyPack(query: Query, change: PackChange, applied: Applied): Promise<void> {
  const { key, action, before, after, fields } = change;
  if (before !== undefined && after !== undefined && action === 'change') {
    await setKey(query, 'packs', before.pack_id, after.key);
    await record(query, applied, { action: 'pack_changed', key, fields, ids: { pack_id: before.pack_id } });
    return;
  }
  if (before !== undefined) {
    const { pack_id } = before;
    await withdraw(query, pack_id);
    await record(query, applied, {
      action: 'pack_withdrawn',
      key: before.key,
      fields,
      ids: { pack_id },
      change: { before: { archived: false }, after: { archived: true } },
    });
  }
  if (after === undefined) return;
  const { pack_id } = await insertPack(query, after);
  await setKey(query, 'packs', pack_id, after.key);
  const created = { before: null, after };
  await record(query, applied, { action: 'pack_created', key, fields, ids: { pack_id }, change: created });
}

async function record(
  query: Query,
  { by, fileSha256 }: Applied,
  {
    action,
    key,
    fields,
    ids,
    change = changeOfFields(action, fields),
  }: {
    action: AuditEntry['action'];
    key: string;
    fields: readonly FieldChange[];
    ids: Record<string, number>;
    change?: Change;
  },
): Promise<void> {
  const changes = fields.map(({ field, before, after }) => ({ field, before, after }));
  const details = { ...ids, key, changes, file_sha256: fileSha256 };
  await recordAudit(query, { ...by, action, application_id: null, account_id: null, details, change });
}

/** Under the names that the file has. */
function changeOfFields(action: AuditEntry['action'], fields: readonly FieldChange[]): Change {
  const named = (side: 'before' | 'after') =>
    Object.fromEntries(fields.map((each) => [each.field, each[side] ?? null]));
  return { before: action.endsWith('_created') ? null : named('before'), after: named('after') };
}
