import { withClient } from '@tollgate/stack/postgres';
import type { Servers } from '../servers.ts';

/** Never refuse, but are checked and counted for each call. */
export const WIDE_LIMITS = {
  points_limit: 1_000_000_000_000,
  rate_limit: 100_000_000,
  session_limit: 10_000,
  subscription_limit: 10_000,
  time_sec_limit: 1_000_000_000,
  traffic_bytes_limit: 1_000_000_000_000_000,
};

export async function widenLimits({ databaseUrl, demo }: Servers): Promise<void> {
  await withClient(databaseUrl, (client) =>
    client.query('UPDATE billing_periods SET description = description || $1::jsonb WHERE account_id = $2', [
      JSON.stringify(WIDE_LIMITS),
      demo.account_id,
    ]),
  );
}
