import { z } from 'zod';
import { emit } from '../double.ts';
import { read, route } from '../http/route.ts';
import type { Route } from '../http/route.ts';
import { newCustomer } from '../objects/catalogue.ts';
import { methodOf } from '../payments/confirm.ts';
import { removeCustomer } from '../payments/test-clocks.ts';
import { mergeMetadata, metadata, metadataOrNone } from './input.ts';
import { getRoute, listRoute } from './list.ts';

const createSchema = z.object({
  email: z.string().optional(),
  name: z.string().optional(),
  description: z.string().optional(),
  metadata: metadata.optional(),
  payment_method: z.string().optional(),
  invoice_settings: z.object({ default_payment_method: z.string().optional() }).optional(),
  test_clock: z.string().optional(),
});
const updateSchema = createSchema.omit({ test_clock: true }).extend({ metadata: metadataOrNone.optional() });
/** What a bank decides is told by `/sample`, whatever the IBAN. */
const debitSchema = z.object({
  type: z.literal('sepa_debit'),
  sepa_debit: z.object({ iban: z.string() }),
  billing_details: z.object({ name: z.string(), email: z.string() }),
});
const attachSchema = z.object({ customer: z.string() });

export const CUSTOMERS: Route[] = [
  route('POST /v1/customers', ({ double, input }) => {
    const wanted = read(createSchema, input);
    if (wanted.test_clock !== undefined) {
      double.store.get('test_helpers.test_clock', wanted.test_clock, 'test_clock');
    }
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
  route('DELETE /v1/customers/{id}', ({ double, id }) => removeCustomer(double, id)),
  route('POST /v1/payment_methods', ({ double, input }) => {
    read(debitSchema, input);
    return methodOf(double, 'pm_sepa_debit');
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
