import { randomUUID } from 'node:crypto';
import { obtainToken } from '../caller.ts';
import { operate } from '../operate.ts';
import type { Demo } from '../stack/stack.ts';

export type Customer = { accountId: number; applicationId: number; token: string };

type Client = { application_id: number; client_id: string; client_secret: string };

/** A new account, by default without limits, and a token of its application: what it uses is what the test used. */
export async function newCustomer(
  demo: Demo,
  name: string,
  description: Readonly<Record<string, number>> = {},
): Promise<Customer> {
  const email = `${name}-${randomUUID()}@example.com`;
  const { account_id } = await operate<{ account_id: number }>(demo, 'POST', '/private/accounts', {
    email,
    name,
  });
  const plan = { name: `${name} ${randomUUID()}`, description };
  const { plan_id } = await operate<{ plan_id: number }>(demo, 'POST', '/private/plans', plan);
  const subscription = { account_id, plan_id, billing_interval: 'month' };
  await operate(demo, 'POST', '/private/subscriptions', subscription);
  const application = { account_id, name, type: 'automatic', token_lifespan_sec: 86_400 };
  const client = await operate<Client>(demo, 'POST', '/private/applications', application);
  const token = await obtainToken(demo, client);
  return { accountId: account_id, applicationId: client.application_id, token };
}
