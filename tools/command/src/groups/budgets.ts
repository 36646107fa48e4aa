import type { Command } from 'commander';
import { resultOf } from '../api/client.ts';
import type { Api, Body } from '../api/client.ts';
import { newGroup } from '../commands.ts';
import { usageFault } from '../failures.ts';
import { recordLines, tableLines } from '../output.ts';
import type { Open, Session } from '../session.ts';
import * as values from '../values.ts';

export function budgetsGroup(open: Open): Command {
  const group = newGroup('budgets', "Limit what applications and members spend of their payer's points");
  addWhose(group.command('get').description('Show a budget, and what was spent of it')).action(
    async (whose: Whose) => {
      const session = open();
      await showBudget(session, await find(session.api, whose));
    },
  );
  addWhose(group.command('set').description('Set both figures of a budget. One that is missing is no limit'))
    .option('--points-per-period <number>', 'points per billing period; 0 allows none', values.wholeNumber)
    .option('--points-per-day <number>', 'points per UTC day; 0 allows none', values.wholeNumber)
    .action(async ({ pointsPerPeriod, pointsPerDay, ...whose }: Figures & Whose) => {
      const session = open();
      const body = { points_per_period: pointsPerPeriod ?? null, points_per_day: pointsPerDay ?? null };
      await showBudget(session, await put(session.api, whose, body));
    });
  group
    .command('list')
    .description('List the budgets of an account or of a team')
    .option('--account <account_id>', 'budgets of an account and its applications', values.id)
    .option('--team <team_id>', 'budgets of all accounts of a team', values.id)
    .action(async (whose: { account?: number; team?: number }) => {
      const session = open();
      const answer = await list(session.api, whose);
      await session.show(answer, () => tableLines(COLUMNS, answer.budgets));
    });
  return group;
}

const COLUMNS = [
  'account_id',
  'application_id',
  'name',
  'points_per_period',
  'points_per_day',
  'manager_points_per_period',
  'manager_points_per_day',
] as const;

function list(api: Api, { account, team }: { account?: number; team?: number }) {
  if (account !== undefined && team === undefined) {
    const path = { account_id: account };
    return resultOf(api.GET('/private/accounts/{account_id}/budgets', { params: { path } }));
  }
  if (account !== undefined || team === undefined) throw usageFault('Give either --account or --team.');
  return resultOf(api.GET('/private/teams/{team_id}/budgets', { params: { path: { team_id: team } } }));
}

/** One of both. */
type Whose = { application?: number; member?: number };

type Figures = { pointsPerPeriod?: number; pointsPerDay?: number };

function addWhose(command: Command): Command {
  return command
    .option('--application <application_id>', 'the budget of an application', values.id)
    .option('--member <account_id>', 'the budget of a team member', values.id);
}

function find(api: Api, { application, member }: Whose) {
  if (application !== undefined && member === undefined) {
    const path = { application_id: application };
    return resultOf(api.GET('/private/applications/{application_id}/budget', { params: { path } }));
  }
  const path = { account_id: onlyMember(application, member) };
  return resultOf(api.GET('/private/members/{account_id}/budget', { params: { path } }));
}

function put(api: Api, { application, member }: Whose, body: Body<'putMemberBudget'>) {
  if (application !== undefined && member === undefined) {
    const path = { application_id: application };
    return resultOf(api.PUT('/private/applications/{application_id}/budget', { params: { path }, body }));
  }
  const path = { account_id: onlyMember(application, member) };
  return resultOf(api.PUT('/private/members/{account_id}/budget', { params: { path }, body }));
}

function onlyMember(application: number | undefined, member: number | undefined): number {
  if (application !== undefined || member === undefined)
    throw usageFault('Give either --application or --member.');
  return member;
}

function showBudget(session: Session, answer: Awaited<ReturnType<typeof find>>): Promise<void> {
  return session.show(answer, () => {
    const { spent, ...budget } = answer;
    return recordLines({ ...budget, ...spent });
  });
}
