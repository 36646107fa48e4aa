import { randomUUID } from 'node:crypto';
import type { ServiceProcess } from '@tollgate/testbed/service-process';
import { operatePath } from './operator.ts';
import type { Answer } from './operator.ts';

export type ShownCredit = {
  credit_id: number;
  account_id: number;
  status: string;
  points: number;
  points_remaining: number;
  source: string;
  priority: number;
  effective_at: string;
  expires_at: string | null;
  note: string | null;
  void_requested_at: string | null;
  transfer_to: number | null;
  voided_at: string | null;
  points_voided: number | null;
};

type Account = Pick<ServiceProcess, 'privateUrl'>;

/** POST /private/credits. */
export function askForCredits(account: Account, body: unknown, key: string = randomUUID()): Promise<Answer> {
  return operatePath(account, 'POST', '/private/credits', body, { 'idempotency-key': key });
}

/** By default 100 points of a promotion, usable now, that don't expire. */
export async function grantTo(
  account: Account,
  account_id: number,
  changes: Record<string, unknown> = {},
): Promise<ShownCredit> {
  const wanted = { account_id, points: 100, source: 'promotion', ...changes };
  const { status, body } = await askForCredits(account, wanted);
  if (status !== 201) throw new Error(`no grant: ${String(status)} ${JSON.stringify(body)}`);
  return body as ShownCredit;
}
