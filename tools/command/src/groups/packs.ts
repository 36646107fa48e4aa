import { Option } from 'commander';
import type { Command } from 'commander';
import { resultOf } from '../api/client.ts';
import type { Api, Body, Query } from '../api/client.ts';
import { addAction, addList, newGroup, showRecord } from '../commands.ts';
import type { Open } from '../session.ts';
import * as values from '../values.ts';

type NewPack = {
  name: string;
  points: number;
  currency: string;
  amount: number;
  tax?: Body<'createPack'>['tax_behavior'];
  expiresAfterDays?: number;
};

export function packsGroup(open: Open): Command {
  const group = newGroup('packs', 'Manage packs of points that customers buy in addition to their plans');
  addList(group, open, {
    description: 'List packs, newest first',
    page: (api: Api, query: Query<'listPacks'>) => resultOf(api.GET('/private/packs', { params: { query } })),
    itemsOf: ({ packs }) => packs,
    columns: [
      'pack_id',
      'key',
      'name',
      'points',
      'currency',
      'unit_amount',
      'tax_behavior',
      'expires_after_days',
      'withdrawn_at',
    ],
  });
  group
    .command('create')
    .description('Put a pack on sale. It is never edited: withdraw it, and create another')
    .requiredOption('--name <name>', 'name')
    .requiredOption('--points <number>', 'points of the pack', values.wholeNumber)
    .requiredOption('--currency <currency>', 'lowercase code, such as eur')
    .requiredOption(
      '--amount <number>',
      "in the currency's minor unit, as Stripe writes it",
      values.wholeNumber,
    )
    .addOption(
      new Option('--tax <behavior>', 'whether tax is added to the price or included in it').choices([
        'exclusive',
        'inclusive',
      ]),
    )
    .option('--expires-after-days <days>', 'days after the purchase; never without it', values.wholeNumber)
    .action(async ({ name, points, currency, amount, tax, expiresAfterDays }: NewPack) => {
      const session = open();
      const body = values.given({
        name,
        points,
        currency,
        unit_amount: amount,
        tax_behavior: tax,
        expires_after_days: expiresAfterDays,
      });
      await showRecord(session, await resultOf(session.api.POST('/private/packs', { body })));
    });
  addAction(group, open, {
    id: 'pack_id',
    name: 'withdraw',
    act: (api, pack_id) =>
      resultOf(api.POST('/private/packs/{pack_id}/withdraw', { params: { path: { pack_id } } })),
    description: 'Stop selling a pack. Points that were bought stay',
    question: (id) => `Stop selling pack ${String(id)}? It can't be sold again.`,
  });
  return group;
}
