import type { Command } from 'commander';
import { resultOf } from '../api/client.ts';
import type { Api, Query, Result } from '../api/client.ts';
import { addAction, addList, newGroup, showRecord } from '../commands.ts';
import { EXIT, Failure } from '../failures.ts';
import { tableLines } from '../output.ts';
import type { Open } from '../session.ts';
import * as values from '../values.ts';

export function paymentsGroup(open: Open): Command {
  const group = newGroup('payments', 'List payment issues, and compare payments with Stripe');
  addIssues(group, open);
  addAction(group, open, {
    id: 'issue_id',
    name: 'resolve',
    description: 'Mark a payment issue as resolved',
    act: (api, issue_id) =>
      resultOf(api.POST('/private/payments/issues/{issue_id}/resolve', { params: { path: { issue_id } } })),
  });
  addPostpone(group, open);
  addTopUps(group, open);
  addPurchases(group, open);
  addOverage(group, open);
  addReconcile(group, open);
  addSync(group, open);
  return group;
}

const BY_ACCOUNT = {
  parameter: 'account_id',
  flags: '--account <account_id>',
  description: 'filter by account',
  parse: values.id,
} as const;

function addIssues(group: Command, open: Open): void {
  addList(group, open, {
    name: 'issues',
    description: 'List payment issues, newest first',
    page: (api: Api, query: Query<'listPaymentIssues'>) =>
      resultOf(api.GET('/private/payments/issues', { params: { query } })),
    itemsOf: ({ issues }) => issues,
    columns: ['issue_id', 'created_at', 'kind', 'account_id', 'object_id', 'details', 'resolved_at'],
    filters: [
      BY_ACCOUNT,
      { parameter: 'state', flags: '--state <state>', description: 'open (default), resolved or all' },
    ],
  });
}

function addPostpone(group: Command, open: Open): void {
  group
    .command('postpone')
    .description('Give an account more time to pay. Changes nothing about a block by an operator')
    .argument('<account_id>', 'ID', values.id)
    .requiredOption('--until <time>', 'calls pass until then', values.firstSecond)
    .action(async (account_id: number, { until }: { until: string }) => {
      const session = open();
      const params = { path: { account_id } };
      const path = '/private/accounts/{account_id}/payment-block/postpone';
      await resultOf(session.api.POST(path, { params, body: { until } }));
      await session.show(undefined, () => [`Account ${String(account_id)} has until ${until} to pay.`]);
    });
}

function addTopUps(group: Command, open: Open): void {
  addList(group, open, {
    name: 'top-ups',
    description: 'List attempts of automatic top-ups, newest first',
    page: (api: Api, query: Query<'listAllTopUps'>) =>
      resultOf(api.GET('/private/top-ups', { params: { query } })),
    itemsOf: ({ top_ups }) => top_ups,
    columns: [
      'top_up_id',
      'created_at',
      'account_id',
      'pack_name',
      'amount',
      'currency',
      'state',
      'decline_code',
      'payment_id',
    ],
    filters: [BY_ACCOUNT],
  });
}

function addPurchases(group: Command, open: Open): void {
  addList(group, open, {
    name: 'purchases',
    description: 'List purchases of packs, newest first',
    page: (api: Api, query: Query<'listAllPurchases'>) =>
      resultOf(api.GET('/private/purchases', { params: { query } })),
    itemsOf: ({ purchases }) => purchases,
    columns: [
      'purchase_id',
      'created_at',
      'account_id',
      'pack_name',
      'quantity',
      'points',
      'amount',
      'currency',
      'state',
      'payment_id',
    ],
    filters: [BY_ACCOUNT],
  });
}

function addOverage(group: Command, open: Open): void {
  addList(group, open, {
    name: 'overage',
    description: 'List what was charged for points beyond the included ones, newest first',
    page: (api: Api, query: Query<'listAllOverageCharges'>) =>
      resultOf(api.GET('/private/overage-charges', { params: { query } })),
    itemsOf: ({ charges }) => charges,
    columns: [
      'charge_id',
      'created_at',
      'account_id',
      'period_id',
      'points',
      'amount',
      'currency',
      'stripe_item_id',
    ],
    filters: [BY_ACCOUNT],
  });
}

type Reconciliation = Result<'reconcilePayments'>;

function addReconcile(group: Command, open: Open): void {
  group
    .command('reconcile')
    .description('Read payments at Stripe, and apply what was missed. Exits with 1 if some could not be read')
    .option('--dry-run', 'only list what would change')
    .option(
      '--since <time>',
      'read what was made at Stripe since then (default: a day ago)',
      values.firstSecond,
    )
    .action(async ({ dryRun, since }: { dryRun?: boolean; since?: string }) => {
      const session = open();
      const body = values.given({ dry_run: dryRun, since });
      const run: Reconciliation = await resultOf(session.api.POST('/private/payments/reconcile', { body }));
      await session.show(run, () => reconciliationLines(run));
      if (!run.is_complete) {
        throw new Failure(
          EXIT.refused,
          'Stripe could not be read to the end. What is listed was applied; run the command again.',
        );
      }
      if (run.failed > 0) {
        throw new Failure(
          EXIT.refused,
          `${String(run.failed)} payment(s) could not be reconciled; see account’s log.`,
        );
      }
    });
}

function reconciliationLines({ checked, differences }: Reconciliation): string[] {
  if (differences.length === 0) return [`${String(checked)} checked: nothing differs from Stripe.`];
  return tableLines(['object_id', 'change'], differences);
}

function addSync(group: Command, open: Open): void {
  group
    .command('sync')
    .description(
      "Create what Stripe lacks: prices of plans and packs, and the customer portal's configuration",
    )
    .action(async () => {
      const session = open();
      await showRecord(session, await resultOf(session.api.POST('/private/payments/sync')));
    });
}
