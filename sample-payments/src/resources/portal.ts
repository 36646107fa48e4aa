import { z } from 'zod';
import { read, route } from '../http/route.ts';
import type { Route } from '../http/route.ts';
import { featuresOf, newPortalConfiguration, newPortalSession } from '../objects/portal.ts';
import { flag, metadata } from './input.ts';
import { getRoute, listRoute } from './list.ts';

const sessionSchema = z.object({
  customer: z.string(),
  configuration: z.string().optional(),
  return_url: z.string().optional(),
});

const featureSchema = z
  .object({ enabled: flag, allowed_updates: z.array(z.string()).optional(), mode: z.string().optional() })
  .optional();

const featuresSchema = z.object({
  customer_update: featureSchema,
  invoice_history: featureSchema,
  payment_method_update: featureSchema,
  subscription_cancel: featureSchema,
  subscription_update: featureSchema,
});

const configurationSchema = z.looseObject({
  metadata: metadata.optional(),
  features: featuresSchema.optional(),
});

export const PORTAL: Route[] = [
  route('POST /v1/billing_portal/configurations', ({ double: { store, clock }, input }) => {
    return store.add(newPortalConfiguration(clock.now(), read(configurationSchema, input)));
  }),
  route('POST /v1/billing_portal/configurations/{id}', ({ double: { store, clock }, id, input }) => {
    const configuration = store.get('billing_portal.configuration', id);
    const { features } = read(configurationSchema, input);
    Object.assign(configuration.features, featuresOf({ ...configuration.features, ...features }));
    configuration.updated = clock.now();
    return configuration;
  }),
  getRoute('/v1/billing_portal/configurations', 'billing_portal.configuration'),
  listRoute('/v1/billing_portal/configurations', 'billing_portal.configuration'),
  route('POST /v1/billing_portal/sessions', ({ double, input }) => {
    const { store, clock, origin } = double;
    const wanted = read(sessionSchema, input);
    store.get('customer', wanted.customer, 'customer');
    const configuration =
      wanted.configuration === undefined
        ? (store.all('billing_portal.configuration')[0] ?? store.add(newPortalConfiguration(clock.now())))
        : store.get('billing_portal.configuration', wanted.configuration, 'configuration');
    return store.add(
      newPortalSession({
        created: clock.now(),
        origin,
        customer: wanted.customer,
        configuration: configuration.id,
        return_url: wanted.return_url ?? null,
      }),
    );
  }),
];

export const EVENTS: Route[] = [listRoute('/v1/events', 'event'), getRoute('/v1/events', 'event')];
