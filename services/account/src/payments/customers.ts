import type { Account } from '../identity/accounts/account.ts';
import type { Query } from '../platform/database/query.ts';
import { withinDeadline } from './deadline.ts';
import type { OffSessionProvider } from './off-session-provider.ts';
import type { PaymentProvider } from './provider.ts';

/** The account's customer at the provider, made if there is none. @throws {Problem} payments_unavailable */
export async function customerOf(
  query: Query,
  provider: Pick<PaymentProvider, 'createCustomer'>,
  { account_id, email, name }: Pick<Account, 'account_id' | 'email' | 'name'>,
): Promise<string> {
  const known = await findCustomer(query, account_id);
  if (known !== undefined) return known;
  const made = await provider.createCustomer({ account_id, email, name });
  await insertCustomer(query, account_id, made);
  const kept = await findCustomer(query, account_id);
  if (kept === undefined) throw new Error(`${made} is the customer of another account`);
  return kept;
}

export async function findCustomer(query: Query, accountId: number): Promise<string | undefined> {
  const rows = await query<{ customer_id: string }>(
    'SELECT customer_id FROM stripe_customers WHERE account_id = :accountId',
    { accountId },
  );
  return rows[0]?.customer_id;
}

/** What the account can be charged by without the customer. Undefined without any. @throws {Problem} payments_unavailable */
export async function paymentMethodOf(
  query: Query,
  provider: Pick<OffSessionProvider, 'findPaymentMethod'>,
  accountId: number,
): Promise<string | undefined> {
  const customer = await findCustomer(query, accountId);
  return customer === undefined ? undefined : withinDeadline(provider.findPaymentMethod(customer));
}

export async function findCustomerAccount(query: Query, customerId: string): Promise<number | undefined> {
  const rows = await query<{ account_id: number }>(
    'SELECT account_id FROM stripe_customers WHERE customer_id = :customerId',
    { customerId },
  );
  return rows[0]?.account_id;
}

/**
 * The first one stays. Without a column at ON CONFLICT: requests at the same time are given the same customer, whose own
 * index would refuse it.
 */
async function insertCustomer(query: Query, accountId: number, customer_id: string): Promise<void> {
  await query(
    `INSERT INTO stripe_customers (account_id, customer_id) VALUES (:accountId, :customer_id)
     ON CONFLICT DO NOTHING`,
    { accountId, customer_id },
  );
}
