import { z } from 'zod';
import { read, route } from '../http/route.ts';
import type { Route } from '../http/route.ts';
import { newPortalConfiguration, newPortalSession } from '../objects/portal.ts';
import { metadata } from './input.ts';
import { getRoute, listRoute } from './list.ts';

const sessionSchema = z.object({
  customer: z.string(),
  configuration: z.string().optional(),
  return_url: z.string().optional(),
});

const configurationSchema = z.looseObject({ metadata: metadata.optional() });

export const PORTAL: Route[] = [
  route('POST /v1/billing_portal/configurations', ({ double: { store, clock }, input }) => {
    const wanted = read(configurationSchema, input);
    return store.add(newPortalConfiguration(clock.now(), wanted.metadata));
  }),
  // The features are always the sample's.
  route('POST /v1/billing_portal/configurations/{id}', ({ double: { store, clock }, id }) => {
    const configuration = store.get('billing_portal.configuration', id);
    configuration.updated = clock.now();
    return configuration;
  }),
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
