import type { Reported } from '../api/reporter.ts';
import type { Session } from '../session.ts';
import { ensureDemoAccount, ensureDemoTeam, ensureManualToken, ensurePlans } from './accounts.ts';
import type { PlanIds } from './accounts.ts';
import { DEMO_PERSON, demoAccount } from './demonstration.ts';
import type { DemoAccount } from './demonstration.ts';
import type { ReportedEvent } from './history.ts';
import { reportUsage } from './report.ts';
import { nothingMade } from './stack.ts';
import type { Made, Stack } from './stack.ts';

export type SeedResult = {
  made: Made;
  /** Null where no credential for reports is known. */
  usage: Reported | null;
  /** Only the sign-in of the person who is shown around. */
  sign_in: { email: string; password: string | null; url: string | null };
};

/**
 * Makes what isn't there yet, by the operators' API alone. The past hangs on when an account was made, so that a
 * second run asks for the same, and the keys of the usage keep it from being counted twice.
 */
export async function seedStack(
  { api, reporter, local }: Pick<Session, 'api' | 'reporter' | 'local'>,
  { accounts, person, say }: { accounts: number; person: string | undefined; say: (line: string) => void },
): Promise<SeedResult> {
  const stack: Stack = { api, made: nothingMade() };
  const plans = await ensurePlans(stack);
  // The sample account of `npm start` has a history of its own.
  const shown = { ...DEMO_PERSON, email: local?.console.email ?? person ?? DEMO_PERSON.email };
  const usage = local === undefined ? await ensurePerson(stack, shown, plans, say) : [];
  for (let number = 1; number <= accounts; number += 1) {
    if (number % 10 === 1) say(`Accounts from ${String(number)} of ${String(accounts)} …`);
    usage.push(...(await ensureDemoAccount(stack, demoAccount(number), plans)).events);
  }
  say(`Usage: ${String(usage.length)} events …`);
  return {
    made: stack.made,
    usage: reporter === undefined ? null : await reportUsage(reporter, usage),
    sign_in: {
      email: shown.email,
      password: local?.console.password ?? null,
      url: local?.console.url ?? null,
    },
  };
}

/** The person who is shown around, with a team and a manual token. */
async function ensurePerson(
  stack: Stack,
  shown: DemoAccount,
  plans: PlanIds,
  say: (line: string) => void,
): Promise<ReportedEvent[]> {
  say(`Account of ${shown.email} and its team …`);
  const { account, events } = await ensureDemoAccount(stack, shown, plans);
  const ofTeam = await ensureDemoTeam(stack, account, shown);
  await ensureManualToken(stack, account.account_id);
  return [...events, ...ofTeam];
}
