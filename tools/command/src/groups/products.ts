import type { Command } from 'commander';
import { addGet, addList, newGroup, showRecord } from '../commands.ts';
import type { Open } from '../session.ts';
import * as values from '../values.ts';

const PATH = '/private/products';

export function productsGroup(open: Open): Command {
  const group = newGroup('products', 'Manage products, which group plans');
  addList(group, open, {
    description: 'List products, newest first',
    path: PATH,
    items: 'products',
    columns: ['product_id', 'name', 'created_at'],
  });
  addGet(group, open, { path: PATH, name: 'product_id' });
  group
    .command('create')
    .description('Create a product')
    .requiredOption('--name <name>', 'unique name')
    .action(async ({ name }: { name: string }) => {
      const session = open();
      await showRecord(session, await session.api.send('POST', PATH, { name }));
    });
  group
    .command('update')
    .description('Rename a product. All its periods show the new name')
    .argument('<product_id>', 'ID', values.id)
    .requiredOption('--name <name>', 'unique name')
    .action(async (id: number, { name }: { name: string }) => {
      const session = open();
      await showRecord(session, await session.api.send('PATCH', `${PATH}/${String(id)}`, { name }));
    });
  return group;
}
