import { expect } from '@jest/globals';
import { call } from './http-client.ts';
import { startRealServices } from './real-services.ts';
import type { Customer, RealServices } from './real-services.ts';
import { countedUsage } from './records/billing-records.ts';
import { startServer } from './upstreams/server.ts';

/** What the upstream charges for each call. */
export const POINTS = 7;

/** Real services whose upstream charges POINTS for each call. */
export type ChargedServices = RealServices & {
  /** Status of a call through one of the gateways. */
  query: (customer: Customer, gateway?: 0 | 1) => Promise<number>;
  /** Calls until `wanted` calls get 200; a 503 is tried again. */
  answered: (customer: Customer, wanted: number, gateway?: 0 | 1) => Promise<void>;
  /** Counted points of the customer's period, by the totals and the hours alike. */
  pointsOf: (customer: Customer) => Promise<number>;
};

export async function startChargedServices(): Promise<ChargedServices> {
  const upstream = await startServer((req, res) => {
    req.resume();
    res.writeHead(200, { 'x-points': String(POINTS) }).end('{}');
  });
  const services = await startRealServices({ gatewayEnv: { UPSTREAM_URL: `${upstream.url}/graphql` } });

  const query: ChargedServices['query'] = async ({ token }, gateway = 0) => {
    const { status } = await call(`${services.gateways[gateway].publicUrl}/graphql`, {
      headers: { authorization: `Bearer ${token}` },
      body: '{}',
    });
    return status;
  };
  return {
    ...services,
    query,
    answered: async (customer, wanted, gateway) => {
      for (let count = 0; count < wanted;) if ((await query(customer, gateway)) === 200) count += 1;
    },
    pointsOf: async ({ periodId }) => {
      const { totals, hourly } = await countedUsage(services.databaseUrl);
      expect(hourly.get(periodId)).toEqual(totals.get(periodId));
      return totals.get(periodId)?.points ?? 0;
    },
    stop: async () => {
      await services.stop();
      await upstream.close();
    },
  };
}
