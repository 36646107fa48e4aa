import { operate, operatePath } from './operator.ts';
import type { Answer } from './operator.ts';
import type { ServiceProcess } from '@tollgate/testbed/service-process';

type Account = Pick<ServiceProcess, 'privateUrl'>;

export type MadeToken = { token_id: number; access_token: string; path: string };

/** `applicationPath` follows `/private/applications`. */
export async function makeToken(
  account: Account,
  applicationPath: string,
  name = 'Token',
): Promise<MadeToken> {
  const { status, body } = await operate(account, 'POST', `${applicationPath}/tokens`, { name });
  if (status !== 201) throw new Error(`no token: ${String(status)}`);
  const made = body as { token_id: number; access_token: string };
  return { ...made, path: `${applicationPath}/tokens/${String(made.token_id)}` };
}

export function temporaryToken(account: Account, accountId: number, method = 'POST'): Promise<Answer> {
  return operatePath(account, method, `/private/accounts/${String(accountId)}/temporary-token`);
}
