import { z } from 'zod';
import { emit } from '../double.ts';
import { read, route } from '../http/route.ts';
import type { Route } from '../http/route.ts';
import { newCustomer } from '../objects/catalogue.ts';
import { methodOf } from '../payments/confirm.ts';
import { mergeMetadata, metadata, metadataOrNone } from './input.ts';
import { getRoute, listRoute } from './list.ts';

const createSchema = z.object({
  email: z.string().optional(),
  name: z.string().optional(),
  description: z.string().optional(),
  metadata: metadata.optional(),
  payment_method: z.string().optional(),
  invoice_settings: z.object({ default_payment_method: z.string().optional() }).optional(),
});
const updateSchema = createSchema.extend({ metadata: metadataOrNone.optional() });
const attachSchema = z.object({ customer: z.string() });

export const CUSTOMERS: Route[] = [
  route('POST /v1/customers', ({ double, input }) => {
    const wanted = read(createSchema, input);
    const customer = double.store.add(newCustomer({ ...wanted, created: double.clock.now() }));
    const method = wanted.payment_method ?? wanted.invoice_settings?.default_payment_method;
    if (method !== undefined) {
      const attached = methodOf(double, method);
      attached.customer = customer.id;
      if (wanted.invoice_settings?.default_payment_method !== undefined) {
        customer.invoice_settings.default_payment_method = attached.id;
      }
    }
    emit(double, 'customer.created', customer);
    return customer;
  }),
  listRoute('/v1/customers', 'customer'),
  getRoute('/v1/customers', 'customer'),
  route('POST /v1/customers/{id}', ({ double, id, input }) => {
    const customer = double.store.get('customer', id);
    const {
      invoice_settings,
      metadata: changes,
      payment_method: _method,
      ...rest
    } = read(updateSchema, input);
    Object.assign(customer, rest);
    customer.metadata = mergeMetadata(customer.metadata, changes);
    const method = invoice_settings?.default_payment_method;
    if (method !== undefined) customer.invoice_settings.default_payment_method = methodOf(double, method).id;
    emit(double, 'customer.updated', customer);
    return customer;
  }),
  listRoute('/v1/payment_methods', 'payment_method'),
  getRoute('/v1/payment_methods', 'payment_method'),
  route('POST /v1/payment_methods/{id}/attach', ({ double, id, input }) => {
    const customer = double.store.get('customer', read(attachSchema, input).customer, 'customer');
    const method = methodOf(double, id);
    method.customer = customer.id;
    emit(double, 'payment_method.attached', method);
    return method;
  }),
];
