import type { Command } from 'commander';
import { addGet, addList, newGroup, showRecord } from '../commands.ts';
import type { Open } from '../session.ts';
import * as values from '../values.ts';

const PATH = '/private/products';

export function productsGroup(open: Open): Command {
  const group = newGroup('products', 'what plans belong to');
  addList(group, open, {
    description: 'lists products, newest first',
    path: PATH,
    items: 'products',
    columns: ['product_id', 'name', 'created_at'],
  });
  addGet(group, open, { path: PATH, name: 'product_id' });
  group
    .command('create')
    .description('makes a product')
    .requiredOption('--name <name>', 'what it is called; no two alike')
    .action(async ({ name }: { name: string }) => {
      const session = open();
      await showRecord(session, await session.api.send('POST', PATH, { name }));
    });
  group
    .command('update')
    .description('renames a product; all its periods show the new name')
    .argument('<product_id>', 'its id', values.id)
    .requiredOption('--name <name>', 'what it is called; no two alike')
    .action(async (id: number, { name }: { name: string }) => {
      const session = open();
      await showRecord(session, await session.api.send('PATCH', `${PATH}/${String(id)}`, { name }));
    });
  return group;
}
