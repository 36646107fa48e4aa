import type { OperatorRole } from '@tollgate/contracts/operator-roles';
import { openTab } from '../../browser/console-page.ts';
import type { ConsoleTab } from '../../browser/console-page.ts';
import { operate } from '../../operate.ts';
import type { Journey } from './journey.ts';

/** The address at which a new operator signs in, once. */
export async function operatorSignInUrl(
  { stack }: Pick<Journey, 'stack'>,
  role: OperatorRole,
): Promise<string> {
  const { demo } = stack();
  const body = { name: 'Grace Hopper', email: `${crypto.randomUUID()}@example.com`, role };
  const { operator } = await operate<{ operator: { operator_id: number } }>(
    demo,
    'POST',
    '/private/operators',
    body,
  );
  const path = `/private/operators/${String(operator.operator_id)}/sign-in-link`;
  return (await operate<{ url: string }>(demo, 'POST', path)).url;
}

/** A new operator, signed in. */
export async function operatorTab(
  journey: Pick<Journey, 'stack' | 'browser'>,
  role: OperatorRole,
): Promise<ConsoleTab> {
  const tab = await openTab(journey.browser(), await operatorSignInUrl(journey, role));
  await tab.page.getByRole('button', { name: 'Sign in' }).click();
  await tab.page.getByRole('heading', { name: 'Customers' }).waitFor();
  return tab;
}
