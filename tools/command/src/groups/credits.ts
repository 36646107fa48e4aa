import { randomUUID } from 'node:crypto';
import { Option } from 'commander';
import type { Command } from 'commander';
import { resultOf } from '../api/client.ts';
import type { Api, Body, Query, Result } from '../api/client.ts';
import {
  addAction,
  addGet,
  addList,
  addPaging,
  addYes,
  answersOf,
  newGroup,
  showList,
  showRecord,
} from '../commands.ts';
import type { ListOptions } from '../commands.ts';
import { confirm } from '../confirm.ts';
import { EXIT, Failure } from '../failures.ts';
import { tableLines } from '../output.ts';
import type { Open } from '../session.ts';
import * as values from '../values.ts';

type NewCredit = Body<'grantCredits'>;

export function creditsGroup(open: Open): Command {
  const group = newGroup('credits', 'Grant points in addition to plans, void them, and check the ledger');
  addList(group, open, {
    description: 'List grants, newest first',
    page: (api: Api, query: Query<'listCredits'>) =>
      resultOf(api.GET('/private/credits', { params: { query } })),
    itemsOf: ({ credits }) => credits,
    columns: [
      'credit_id',
      'account_id',
      'status',
      'points',
      'points_remaining',
      'source',
      'priority',
      'effective_at',
      'expires_at',
    ],
    filters: [
      {
        parameter: 'account_id',
        flags: '--account <account_id>',
        description: 'filter by account',
        parse: values.id,
      },
      {
        parameter: 'source',
        flags: '--source <source>',
        description: 'filter by source: purchase, promotion, compensation, carry_over or overage',
      },
    ],
  });
  addGet(group, open, {
    name: 'credit_id',
    get: (api, credit_id) =>
      resultOf(api.GET('/private/credits/{credit_id}', { params: { path: { credit_id } } })),
  });
  addGrant(group, open);
  addAction(group, open, {
    id: 'credit_id',
    name: 'void',
    description: 'Void what is left of a grant',
    question: (id) => `Void what is left of grant ${String(id)}? It can't be taken back.`,
    act: (api, credit_id) =>
      resultOf(api.POST('/private/credits/{credit_id}/void', { params: { path: { credit_id } } })),
  });
  addTransfer(group, open);
  addMovements(group, open);
  addCheck(group, open);
  return group;
}

type Grant = {
  account: number;
  points: number;
  source: NewCredit['source'];
  priority?: number;
  from?: string;
  expires?: string;
  note?: string;
  key?: string;
};

function addGrant(group: Command, open: Open): void {
  group
    .command('grant')
    .description('Grant points to an account, once for a key')
    .requiredOption('--account <account_id>', 'account ID', values.id)
    .requiredOption('--points <number>', 'points', values.wholeNumber)
    .addOption(
      new Option('--source <source>', 'why they are granted')
        .choices(['purchase', 'promotion', 'compensation'])
        .default('promotion'),
    )
    .option('--priority <number>', '0 to 100; lower numbers are used first (default 50)', values.wholeNumber)
    .option('--from <time>', 'when they can be used; now by default', values.firstSecond)
    .option('--expires <time>', 'the first second at which they cannot be used', values.firstSecond)
    .option('--note <text>', 'a note, visible to the account')
    .option('--key <key>', 'idempotency key; with the same key, a repetition grants nothing more')
    .action(async (grant: Grant) => {
      const session = open();
      const body = values.given({
        account_id: grant.account,
        points: grant.points,
        source: grant.source,
        priority: grant.priority,
        effective_at: grant.from,
        expires_at: grant.expires,
        note: grant.note,
      });
      const params = { header: { 'Idempotency-Key': grant.key ?? randomUUID() } };
      await showRecord(session, await resultOf(session.api.POST('/private/credits', { params, body })));
    });
}

function addTransfer(group: Command, open: Open): void {
  const command = group
    .command('transfer')
    .description('Move what is left of a purchase to another account, until the same time')
    .argument('<credit_id>', 'ID', values.id)
    .requiredOption('--to <account_id>', 'account that gets the points', values.id);
  addYes(command).action(async (credit_id: number, { to, yes }: { to: number; yes?: boolean }) => {
    const session = open();
    await confirm(`Move what is left of grant ${String(credit_id)} to account ${String(to)}?`, { yes });
    const params = { path: { credit_id } };
    const body = { account_id: to };
    await showRecord(
      session,
      await resultOf(session.api.POST('/private/credits/{credit_id}/transfer', { params, body })),
    );
  });
}

function addMovements(group: Command, open: Open): void {
  const command = group
    .command('movements')
    .description("List a grant's movements, newest first")
    .argument('<credit_id>', 'ID', values.id);
  addPaging(command, []).action(async (credit_id: number, options: ListOptions) => {
    await showList(
      open(),
      {
        page: (api: Api, query: Query<'listCreditMovements'>) =>
          resultOf(
            api.GET('/private/credits/{credit_id}/movements', { params: { path: { credit_id }, query } }),
          ),
        itemsOf: ({ movements }) => movements,
        columns: [
          'movement_id',
          'at',
          'from_ledger',
          'to_ledger',
          'points',
          'reason',
          'period_id',
          'corrects_movement_id',
          'actor',
        ],
      },
      {},
      options,
    );
  });
}

type Differences = Result<'checkCredits'>['differences'];

function addCheck(group: Command, open: Open): void {
  group
    .command('check')
    .description('Recompute what is left of all grants. Exits with 1 if an account differs')
    .option('--account <account_id>', 'only this account', values.id)
    .action(async ({ account }: { account?: number }) => {
      const session = open();
      const differences: Differences = [];
      let checked = 0;
      const ask = (body: Body<'checkCredits'>) =>
        resultOf(session.api.POST('/private/credit-checks', { body }));
      for await (const check of answersOf(ask, values.given({ account_id: account }))) {
        checked += check.checked;
        differences.push(...check.differences);
        if (session.json) await session.print([JSON.stringify(check)]);
      }
      if (!session.json) await session.print(checkLines(checked, differences));
      if (differences.length > 0) {
        throw new Failure(EXIT.refused, `The credits of ${String(differences.length)} account(s) differ.`);
      }
    });
}

function checkLines(checked: number, differences: Differences): string[] {
  if (differences.length === 0)
    return [`${String(checked)} checked: the credits are what their movements say.`];
  return tableLines(
    ['account_id', 'fault', 'movement_id', 'credit_id', 'period_id', 'expected', 'found'],
    differences,
  );
}
