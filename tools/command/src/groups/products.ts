import type { Command } from 'commander';
import { resultOf } from '../api/client.ts';
import type { Api, Query } from '../api/client.ts';
import { addGet, addList, newGroup, showRecord } from '../commands.ts';
import type { Open } from '../session.ts';
import * as values from '../values.ts';

export function productsGroup(open: Open): Command {
  const group = newGroup('products', 'Manage products, which group plans');
  addList(group, open, {
    description: 'List products, newest first',
    page: (api: Api, query: Query<'listProducts'>) =>
      resultOf(api.GET('/private/products', { params: { query } })),
    itemsOf: ({ products }) => products,
    columns: ['product_id', 'name', 'created_at'],
  });
  addGet(group, open, {
    name: 'product_id',
    get: (api, id) =>
      resultOf(api.GET('/private/products/{product_id}', { params: { path: { product_id: id } } })),
  });
  group
    .command('create')
    .description('Create a product')
    .requiredOption('--name <name>', 'unique name')
    .action(async ({ name }: { name: string }) => {
      const session = open();
      await showRecord(session, await resultOf(session.api.POST('/private/products', { body: { name } })));
    });
  group
    .command('update')
    .description('Rename a product. All its periods show the new name')
    .argument('<product_id>', 'ID', values.id)
    .requiredOption('--name <name>', 'unique name')
    .action(async (id: number, { name }: { name: string }) => {
      const session = open();
      await showRecord(
        session,
        await resultOf(
          session.api.PATCH('/private/products/{product_id}', {
            params: { path: { product_id: id } },
            body: { name },
          }),
        ),
      );
    });
  return group;
}
