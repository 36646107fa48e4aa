import { InvalidArgumentError } from 'commander';
import type { Command } from 'commander';
import { addYes, newGroup } from '../commands.ts';
import { confirm } from '../confirm.ts';
import { DEMO_DOMAIN } from '../seed/demonstration.ts';
import { seedStack } from '../seed/seed.ts';
import type { SeedResult } from '../seed/seed.ts';
import { accountsOf } from '../seed/stack.ts';
import type { Open, Session } from '../session.ts';
import * as values from '../values.ts';

const MAX_ACCOUNTS = 1_000;

type SeedOptions = { accounts: number; person?: string; yes?: boolean };

export function seedCommand(open: Open): Command {
  const command = newGroup(
    'seed',
    'Create demonstration data: accounts, a team, plans, subscriptions, applications and months of usage. Running it again changes nothing',
  )
    .option(
      '--accounts <number>',
      `how many, beside the person who is shown around; up to ${String(MAX_ACCOUNTS)}`,
      count,
      10,
    )
    .option(
      '--person <address>',
      'email address of the demonstration’s person, if the stack has no sample account',
    );
  return addYes(command).action(async ({ accounts, person, yes }: SeedOptions) => {
    const session = open();
    await requireEmpty(session, person, yes);
    const result = await seedStack(session, { accounts, person, say });
    if (session.json) await session.print([JSON.stringify(result)]);
    else await session.print(resultLines(result));
  });
}

/** Accounts that neither npm start nor a seed has made may be real customers. */
async function requireEmpty(
  session: Session,
  person: string | undefined,
  yes: boolean | undefined,
): Promise<void> {
  const sample = [session.local?.account_id, session.local?.member.account_id];
  const accounts = await accountsOf(session, {});
  const others = accounts.filter(
    ({ account_id, email }) =>
      !sample.includes(account_id) && !email.endsWith(DEMO_DOMAIN) && email !== person,
  );
  if (others.length === 0) return;
  await confirm(`The stack has ${String(others.length)} account(s) of others. Fill it with demonstrations?`, {
    yes,
  });
}

function resultLines({ made, usage, sign_in }: SeedResult): string[] {
  const counted = Object.entries(made).filter(([, number]) => number > 0);
  const usageLine =
    usage === null
      ? 'No usage: set TOLLGATE_REPORTER_CREDENTIAL, one of USAGE_REPORTER_CREDENTIALS.'
      : `Usage reported: ${String(usage.counted)} events counted, ${String(usage.repeated)} known already, ${String(usage.refused)} refused.`;
  return [
    counted.length === 0
      ? 'Everything was there already.'
      : `Made: ${counted.map(([kind, number]) => `${String(number)} ${kind}`).join(', ')}.`,
    usageLine,
    '',
    'The person to show around with:',
    `  e-mail    ${sign_in.email}`,
    `  password  ${sign_in.password ?? 'none yet: "forgot password" sets one'}`,
    ...(sign_in.url === null ? [] : [`  at        ${sign_in.url}`]),
  ];
}

function say(line: string): void {
  process.stderr.write(`${line}\n`);
}

function count(text: string): number {
  const number = values.wholeNumber(text);
  if (number > MAX_ACCOUNTS) throw new InvalidArgumentError(`It must be at most ${String(MAX_ACCOUNTS)}.`);
  return number;
}
