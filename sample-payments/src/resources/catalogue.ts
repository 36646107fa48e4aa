import { z } from 'zod';
import { checkCurrency } from '../currencies.ts';
import { emit } from '../double.ts';
import type { Double } from '../double.ts';
import { invalid } from '../http/failure.ts';
import { read, route } from '../http/route.ts';
import type { Route } from '../http/route.ts';
import { newPrice, newProduct } from '../objects/catalogue.ts';
import type { Product } from '../objects/catalogue.ts';
import { flag, mergeMetadata, metadata, metadataOrNone, whole } from './input.ts';
import { getRoute, listRoute } from './list.ts';

const productSchema = z.object({
  id: z.string().optional(),
  name: z.string(),
  description: z.string().optional(),
  metadata: metadata.optional(),
});
const productUpdateSchema = z.object({
  name: z.string().optional(),
  active: flag.optional(),
  metadata: metadataOrNone.optional(),
});
const priceSchema = z.object({
  product: z.string().optional(),
  product_data: productSchema.pick({ id: true, name: true, metadata: true }).optional(),
  currency: z.string(),
  unit_amount: whole,
  recurring: z.object({ interval: z.enum(['day', 'week', 'month', 'year']) }).optional(),
  tax_behavior: z.enum(['exclusive', 'inclusive', 'unspecified']).optional(),
  lookup_key: z.string().max(200).optional(),
  transfer_lookup_key: flag.optional(),
  nickname: z.string().optional(),
  metadata: metadata.optional(),
});
const priceUpdateSchema = z.object({ active: flag.optional(), metadata: metadataOrNone.optional() });

/** @throws {Failure} resource_already_exists */
function makeProduct(double: Double, wanted: z.infer<typeof productSchema>): Product {
  const { store, clock } = double;
  if (wanted.id !== undefined && store.lookUp(wanted.id) !== undefined) {
    throw invalid('Product already exists.', { code: 'resource_already_exists', param: 'id' });
  }
  const product = store.add(newProduct({ ...wanted, created: clock.now() }));
  emit(double, 'product.created', product);
  return product;
}

export const CATALOGUE: Route[] = [
  route('POST /v1/products', ({ double, input }) => makeProduct(double, read(productSchema, input))),
  listRoute('/v1/products', 'product'),
  getRoute('/v1/products', 'product'),
  route('POST /v1/products/{id}', ({ double, id, input }) => {
    const product = double.store.get('product', id);
    const { metadata: changes, ...rest } = read(productUpdateSchema, input);
    Object.assign(product, rest);
    product.metadata = mergeMetadata(product.metadata, changes);
    emit(double, 'product.updated', product);
    return product;
  }),
  route('POST /v1/prices', ({ double, input }) => {
    const { store, clock } = double;
    const { recurring, transfer_lookup_key, product_data, ...wanted } = read(priceSchema, input);
    const currency = checkCurrency(wanted.currency);
    if (wanted.unit_amount < 0) throw invalid('Invalid non-negative integer', { param: 'unit_amount' });
    if ((wanted.product === undefined) === (product_data === undefined)) {
      throw invalid('You must specify either `product` or `product_data`.', { param: 'product' });
    }
    const holder = store
      .all('price')
      .find(({ lookup_key }) => lookup_key !== null && lookup_key === wanted.lookup_key);
    if (holder !== undefined) {
      if (transfer_lookup_key !== true) {
        throw invalid(`A price (\`${holder.id}\`) already uses that lookup key.`, { param: 'lookup_key' });
      }
      holder.lookup_key = null;
    }
    const created = clock.now();
    const { id: product } =
      product_data === undefined
        ? store.get('product', wanted.product ?? '', 'product')
        : makeProduct(double, product_data);
    const price = store.add(
      newPrice({ ...wanted, product, created, currency, interval: recurring?.interval }),
    );
    emit(double, 'price.created', price);
    return price;
  }),
  listRoute('/v1/prices', 'price'),
  getRoute('/v1/prices', 'price'),
  route('POST /v1/prices/{id}', ({ double, id, input }) => {
    const price = double.store.get('price', id);
    const { metadata: changes, ...rest } = read(priceUpdateSchema, input);
    Object.assign(price, rest);
    price.metadata = mergeMetadata(price.metadata, changes);
    emit(double, 'price.updated', price);
    return price;
  }),
];
