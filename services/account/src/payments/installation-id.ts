import type { Query } from '../platform/database/query.ts';
import { singleRow } from '../platform/database/single-row.ts';

/** Tells apart installations that share an account at Stripe. It is the database's, and a restored one keeps it. */
export type InstallationId = () => Promise<string>;

/** It never changes, so it is read once that succeeds. */
export function createInstallationId(query: Query): InstallationId {
  let known: string | undefined;
  return async () => {
    if (known === undefined) {
      const rows = await query<{ installation_id: string }>('SELECT installation_id FROM installation');
      known = singleRow(rows).installation_id;
    }
    return known;
  };
}
