import { Problem } from '@tollgate/http/problem';
import { findPayerPeriods } from '../../billing/periods/payer-periods.ts';
import type { Query } from '../../platform/database/query.ts';
import { teamView } from '../../teams/console/team-view.ts';
import { findMembership } from '../../teams/store.ts';
import type { SessionLifetimes } from '../../identity/sessions/session-store.ts';

/** What the files are read from: a snapshot of the database, as one account may see it. */
export type Source = {
  query: Query;
  account_id: number;
  /** A member of a team sees only their own calls. */
  view: 'billed' | 'own';
  team: Awaited<ReturnType<typeof teamView>> | null;
  lifetimes: SessionLifetimes;
  now: Date;
};

/** @throws {Problem} not_found; service_unavailable */
export async function openSource(
  query: Query,
  account_id: number,
  lifetimes: SessionLifetimes,
): Promise<Source> {
  const payerPeriods = await findPayerPeriods(query, account_id);
  if (payerPeriods === undefined) throw new Problem('not_found');
  const membership = await findMembership(query, account_id);
  const team = membership === undefined ? null : await teamView(query, account_id);
  const view = payerPeriods.payer_id === account_id ? 'billed' : 'own';
  return { query, account_id, view, team, lifetimes, now: payerPeriods.now };
}
