import type { ClientAnswer } from '@tollgate/contracts/client-record';
import type { AuthUnderTest, TestClient } from './auth-under-test.ts';
import { postClientChange } from './requests.ts';

/** account commits a change, and doesn't notify auth. */
export function commitChange(
  auth: Pick<AuthUnderTest, 'account'>,
  { client_id }: TestClient,
  changes: Partial<ClientAnswer>,
): ClientAnswer {
  const known = auth.account.clients.get(client_id);
  if (known === undefined) throw new Error('account has no such client');
  const record = { ...known, ...changes };
  auth.account.clients.set(client_id, record);
  return record;
}

/** A revocation, committed and then delivered. The client stays active, with a new epoch. */
export async function revokeTokens(
  auth: Pick<AuthUnderTest, 'account' | 'service'>,
  client: TestClient,
): Promise<void> {
  const epoch = (auth.account.clients.get(client.client_id)?.revocation_epoch ?? 0) + 1;
  const { revocation_epoch } = commitChange(auth, client, { revocation_epoch: epoch });
  const response = await postClientChange(auth.service, client.client_id, { revocation_epoch });
  if (response.status !== 204) throw new Error(`the delivery was answered with ${String(response.status)}`);
}
