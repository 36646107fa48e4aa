import type { Query } from '../../platform/database/query.ts';
import type { Apply } from '../applied.ts';
import { lockHolder } from '../../billing/credits/store.ts';
import { findCustomerAccount } from '../customers.ts';
import type { OffSessionProvider } from '../off-session-provider.ts';
import { findDeclinedMethod, lockSettings, resume } from './store.ts';

type Needs = { query: Query; provider: Pick<OffSessionProvider, 'findPaymentMethod'> };

/** Another card than the one that was declined resumes top-ups. */
export async function applyCustomer({ query: read, provider }: Needs, customerId: string): Promise<Apply> {
  const account_id = await findCustomerAccount(read, customerId);
  const method = account_id === undefined ? undefined : await provider.findPaymentMethod(customerId);
  return async (query) => {
    if (account_id === undefined || method === undefined) return { outcome: 'ignored', change: null };
    if (!(await lockHolder(query, account_id))) return { outcome: 'ignored', change: null };
    const settings = await lockSettings(query, account_id);
    const isStopped = settings !== undefined && (settings.declines > 0 || settings.paused_for !== null);
    const isOther = method !== (await findDeclinedMethod(query, account_id));
    if (!isStopped || settings.paused_for === 'pack_withdrawn' || !isOther)
      return { outcome: 'applied', change: null };
    await resume(query, account_id);
    return { outcome: 'applied', change: `top-ups of account ${String(account_id)}: resumed` };
  };
}
