import { AUDIT_ACTIONS } from '@tollgate/contracts/audit-actions';
import type { AuditAction } from '@tollgate/contracts/audit-actions';

/** What the audit log is filtered by; all of it holds. It is in the page's address. */
export type AuditFilters = {
  account_id?: number;
  actor?: string;
  action?: AuditAction;
  from?: string;
  to?: string;
};

/** Of an address below /operator; what isn't a filter is left out. */
export function filtersAt(address: string): AuditFilters {
  const { searchParams } = new URL(address, location.origin);
  return filtersFrom(Object.fromEntries(searchParams));
}

/** Of a form's values, or of an address. */
export function filtersFrom(values: Readonly<Record<string, string>>): AuditFilters {
  const { account_id = '', actor = '', action = '', from = '', to = '' } = values;
  const known = AUDIT_ACTIONS.find((each) => each === action);
  return {
    ...(/^[1-9]\d{0,14}$/.test(account_id.trim()) ? { account_id: Number(account_id) } : {}),
    ...(actor.trim() === '' ? {} : { actor: actor.trim() }),
    ...(known === undefined ? {} : { action: known }),
    ...(from.trim() === '' ? {} : { from: from.trim() }),
    ...(to.trim() === '' ? {} : { to: to.trim() }),
  };
}

/** The page's address below /operator. */
export function addressOf(filters: AuditFilters): string {
  const query = new URLSearchParams(
    Object.entries(filters).map(([name, value]): [string, string] => [name, String(value)]),
  ).toString();
  return query === '' ? '/audit' : `/audit?${query}`;
}
