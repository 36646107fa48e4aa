import type { RequestHandler } from 'express';
import { z } from 'zod';
import { Problem } from '@tollgate/http/problem';
import { operatorOf } from '../../platform/audit/operator-actor.ts';
import { idOf } from '../../http/input/id-parameter.ts';
import type { Query, Transact } from '../../platform/database/query.ts';
import { booleanQueryField, idQueryField } from '../../http/input/fields.ts';
import { bodyOf } from '../../http/input/json-body.ts';
import { cutPage, lookAhead, pageFields, queryOf } from '../../http/input/page.ts';
import {
  changePlanAttributes,
  changeProduct,
  createPlan,
  createProduct,
  publishPlan,
  setPlanArchived,
  unpublishPlan,
} from './changes.ts';
import { newPlanSchema, planChangeSchema, productSchema, publicationSchema } from './input.ts';
import { findPlan, findProduct, listPlans, listProducts } from './store.ts';

/**
 * Plans and products, for operators. A plan is `plan_id, name, product_id, description, grace_sec, archived_at,
 * public_position, price_month, price_year, included, team_slot_price, team_slots_max, created_at`, a product `product_id, name, created_at`. 404 `not_found`, 400 `invalid_request` naming all invalid
 * fields (`errors`), 409 `name_taken`, 401 without an operator's credential, 503 while Postgres is unavailable (a
 * change may have been made).
 */

const pageSchema = z.strictObject(pageFields);

const planListSchema = z.strictObject({
  ...pageFields,
  product_id: idQueryField.optional(),
  archived: booleanQueryField.optional(),
  public: booleanQueryField.optional(),
});

/** `GET /private/plans?product_id=&archived=&public=&limit=50&cursor=…`: 200 `{plans, next_cursor}`, newest first. */
export function plansEndpoint(query: Query): RequestHandler {
  return async (req, res) => {
    const page = queryOf(req, planListSchema);
    const found = await listPlans(query, page, lookAhead(page));
    const { rows, next_cursor } = cutPage(found, page, ({ plan_id }) => plan_id);
    res.json({ plans: rows, next_cursor });
  };
}

/**
 * `POST /private/plans` with `{name, description, product_id?, grace_sec?, allow_unknown?}`: 201. The default grace
 * window is three days. Attributes that look like a mistyped limit are refused unless `allow_unknown` is true.
 */
export function newPlanEndpoint(transact: Transact): RequestHandler {
  return async (req, res) => {
    const wanted = bodyOf(req, newPlanSchema);
    const plan = await transact((inside) => createPlan(inside, wanted, operatorOf(req, res)));
    res
      .status(201)
      .location(`/private/plans/${String(plan.plan_id)}`)
      .json(plan);
  };
}

export function planEndpoint(query: Query): RequestHandler {
  return async (req, res) => {
    const plan = await findPlan(query, idOf(req, 'plan_id'));
    if (plan === undefined) throw new Problem('not_found');
    res.json(plan);
  };
}

/** `PATCH /private/plans/{plan_id}` with some fields and `allow_unknown`: 200. Applies to periods that start later. */
export function changePlanEndpoint(transact: Transact): RequestHandler {
  return async (req, res) => {
    const [id, wanted] = [idOf(req, 'plan_id'), bodyOf(req, planChangeSchema)];
    res.json(await transact((inside) => changePlanAttributes(inside, id, wanted, operatorOf(req, res))));
  };
}

/** `POST …/{plan_id}/archive` and `…/restore`, without a body: 200. Subscriptions keep an archived plan. */
export function archivePlanEndpoint(transact: Transact, archived: boolean): RequestHandler {
  return async (req, res) => {
    const id = idOf(req, 'plan_id');
    res.json(await transact((inside) => setPlanArchived(inside, id, archived, operatorOf(req, res))));
  };
}

/**
 * `POST …/{plan_id}/publish` with some of `{public_position, price_month, price_year, included, team_slot_price,
 * team_slots_max}`: 200; the plan is in the catalogue (ADR 0053). 409 `plan_archived`.
 */
export function publishPlanEndpoint(transact: Transact): RequestHandler {
  return async (req, res) => {
    const [id, wanted] = [idOf(req, 'plan_id'), bodyOf(req, publicationSchema)];
    res.json(await transact((inside) => publishPlan(inside, id, wanted, operatorOf(req, res))));
  };
}

/** `POST …/{plan_id}/unpublish`, without a body: 200. Subscriptions keep the plan. */
export function unpublishPlanEndpoint(transact: Transact): RequestHandler {
  return async (req, res) => {
    const id = idOf(req, 'plan_id');
    res.json(await transact((inside) => unpublishPlan(inside, id, operatorOf(req, res))));
  };
}

/** `GET /private/products`: 200 `{products, next_cursor}`, newest first. */
export function productsEndpoint(query: Query): RequestHandler {
  return async (req, res) => {
    const page = queryOf(req, pageSchema);
    const found = await listProducts(query, lookAhead(page));
    const { rows, next_cursor } = cutPage(found, page, ({ product_id }) => product_id);
    res.json({ products: rows, next_cursor });
  };
}

export function newProductEndpoint(transact: Transact): RequestHandler {
  return async (req, res) => {
    const { name } = bodyOf(req, productSchema);
    const product = await transact((inside) => createProduct(inside, name, operatorOf(req, res)));
    res
      .status(201)
      .location(`/private/products/${String(product.product_id)}`)
      .json(product);
  };
}

export function productEndpoint(query: Query): RequestHandler {
  return async (req, res) => {
    const product = await findProduct(query, idOf(req, 'product_id'));
    if (product === undefined) throw new Problem('not_found');
    res.json(product);
  };
}

/** `PATCH /private/products/{product_id}` with `{name}`: 200; all its periods show the new name. */
export function changeProductEndpoint(transact: Transact): RequestHandler {
  return async (req, res) => {
    const [id, { name }] = [idOf(req, 'product_id'), bodyOf(req, productSchema)];
    res.json(await transact((inside) => changeProduct(inside, id, name, operatorOf(req, res))));
  };
}
