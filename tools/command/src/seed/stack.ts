import { resultOf } from '../api/client.ts';
import type { Api, Body, Query, Schemas } from '../api/client.ts';
import { pagesOf } from '../commands.ts';
import type { Page, Pages, Paging } from '../commands.ts';
import { Refusal } from '../failures.ts';

/** Making things by the operators' API that may be there already. */

export type Account = Schemas['OperatedAccount'];

export type Made = Record<
  'accounts' | 'teams' | 'plans' | 'periods' | 'subscriptions' | 'applications' | 'tokens',
  number
>;

export const nothingMade = (): Made => ({
  accounts: 0,
  teams: 0,
  plans: 0,
  periods: 0,
  subscriptions: 0,
  applications: 0,
  tokens: 0,
});

/** Whatever was made is counted. */
export type Stack = { api: Api; made: Made };

/** All items of a list. */
export async function itemsOf<Wanted extends Paging, Answer extends Page, Item>(
  api: Api,
  pages: Pages<Wanted, Answer, Item>,
  filters: Wanted,
): Promise<Item[]> {
  const found: Item[] = [];
  for await (const page of pagesOf(api, pages, { ...filters, limit: 200 })) found.push(...page);
  return found;
}

/** What `call` makes, counted. */
export async function create<Item>(
  { made }: Pick<Stack, 'made'>,
  kind: keyof Made,
  call: Promise<{ data?: Item }>,
): Promise<Item> {
  const item = await resultOf(call);
  made[kind] += 1;
  return item;
}

/** The one that is found, else a new one; where another seed makes it at the same time, that one's. */
export async function findOrCreate<Item>(
  find: () => Promise<Item | undefined>,
  make: () => Promise<Item>,
): Promise<Item> {
  const found = await find();
  if (found !== undefined) return found;
  try {
    return await make();
  } catch (error) {
    const again = error instanceof Refusal && error.status === 409 ? await find() : undefined;
    if (again === undefined) throw error;
    return again;
  }
}

export function accountsOf({ api }: Pick<Stack, 'api'>, filters: Query<'listAccounts'>): Promise<Account[]> {
  return itemsOf(
    api,
    {
      page: (asked: Api, query: Query<'listAccounts'>) =>
        resultOf(asked.GET('/private/accounts', { params: { query } })),
      itemsOf: ({ accounts }) => accounts,
    },
    filters,
  );
}

export async function ensureAccount(stack: Stack, email: string, name: string): Promise<Account> {
  return findOrCreate(
    async () => (await accountsOf(stack, { email }))[0],
    () => create(stack, 'accounts', stack.api.POST('/private/accounts', { body: { email, name } })),
  );
}

export function placeOf({ api }: Pick<Stack, 'api'>, account_id: number): Promise<Schemas['AccountSummary']> {
  return resultOf(api.GET('/private/accounts/{account_id}', { params: { path: { account_id } } }));
}

/** Ids in the order of the names. Their secrets aren't kept: an operator rotates them. */
export async function ensureApplications(
  stack: Stack,
  account_id: number,
  names: readonly string[],
  type: Body<'createApplication'>['type'] = 'automatic',
): Promise<number[]> {
  const present = await applicationsOf(stack, account_id);
  const ids: number[] = [];
  for (const name of names) {
    const found = present.find((application) => application.name === name);
    const body = { account_id, name, type, token_lifespan_sec: 2_592_000 };
    const application =
      found ?? (await create(stack, 'applications', stack.api.POST('/private/applications', { body })));
    ids.push(application.application_id);
  }
  return ids;
}

function applicationsOf({ api }: Stack, account_id: number): Promise<Schemas['Application'][]> {
  return itemsOf(
    api,
    {
      page: (asked: Api, query: Query<'listApplications'>) =>
        resultOf(asked.GET('/private/applications', { params: { query } })),
      itemsOf: ({ applications }) => applications,
    },
    { account_id },
  );
}
