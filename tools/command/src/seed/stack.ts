import type { Api } from '../api.ts';
import { pagesOf } from '../commands.ts';
import type { Parameters } from '../api.ts';
import { Refusal } from '../failures.ts';

/** Making things by the operators' API that may be there already. */

export type Account = { account_id: number; created_at: string; blocked_at: string | null };

export type AccountPlace = Account & { team: { team_id: number } | null; subscription_id: number | null };

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
export async function itemsOf<Item>(
  { api }: Pick<Stack, 'api'>,
  path: string,
  items: string,
  filters: Parameters = {},
): Promise<Item[]> {
  const found: Item[] = [];
  for await (const page of pagesOf({ api }, { path, items }, { ...filters, limit: 200 })) {
    found.push(...(page as unknown as Item[]));
  }
  return found;
}

export async function create<Item>(
  { api, made }: Stack,
  kind: keyof Made,
  path: string,
  wanted: Record<string, unknown>,
): Promise<Item> {
  const { body } = await api.send('POST', path, wanted);
  made[kind] += 1;
  return body as Item;
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

export async function ensureAccount(stack: Stack, email: string, name: string): Promise<Account> {
  return findOrCreate(
    async () => (await itemsOf<Account>(stack, '/private/accounts', 'accounts', { email }))[0],
    () => create<Account>(stack, 'accounts', '/private/accounts', { email, name }),
  );
}

export async function placeOf({ api }: Pick<Stack, 'api'>, accountId: number): Promise<AccountPlace> {
  const { body } = await api.get(`/private/accounts/${String(accountId)}`);
  return body as unknown as AccountPlace;
}

/** Ids in the order of the names. Their secrets aren't kept: an operator rotates them. */
export async function ensureApplications(
  stack: Stack,
  account_id: number,
  names: readonly string[],
  type: 'automatic' | 'manual' = 'automatic',
): Promise<number[]> {
  type Application = { application_id: number; name: string };
  const path = '/private/applications';
  const present = await itemsOf<Application>(stack, path, 'applications', { account_id });
  const ids: number[] = [];
  for (const name of names) {
    const found = present.find((application) => application.name === name);
    const wanted = { account_id, name, type, token_lifespan_sec: 2_592_000 };
    ids.push((found ?? (await create<Application>(stack, 'applications', path, wanted))).application_id);
  }
  return ids;
}
