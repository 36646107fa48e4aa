import { randomUUID } from 'node:crypto';
import { hmacSecret, pepperSetting } from '@tollgate/credentials/client-secret';
import { clientSecretPeppers } from '@tollgate/testbed/service-process';
import type { AccountStandIn } from '../suite/account-stand-in.ts';
import { addClient } from '../suite/auth-under-test.ts';

type Credentials = { client_id: string; client_secret: string };

/** Makes a client known to account that has a secret of the suite's choice. */
export function addKnownClient(
  account: Pick<AccountStandIn, 'clients'>,
  client_secret: string,
  client_id: string = randomUUID(),
): Credentials {
  const { record } = addClient({ clients: new Map() });
  const stored = hmacSecret(client_secret, pepperSetting.parse(clientSecretPeppers));
  account.clients.set(client_id, { ...record, client_id, secrets: [{ ...stored, expires_at: null }] });
  return { client_id, client_secret };
}
