import { Command, Help } from 'commander';
import type { Option } from 'commander';
import type { Api, ReasonHeader } from './api/client.ts';
import { confirm } from './confirm.ts';
import { recordLines, tableLines } from './output.ts';
import type { Column, Row } from './output.ts';
import type { Open, Session } from './session.ts';
import * as values from './values.ts';

/** The commands that most nouns have. */

export type Page = { next_cursor: string | null };
export type Paging = { limit?: number; cursor?: string };

/** How the API lists something, a page at a time. */
export type Pages<Wanted extends Paging, Answer extends Page, Item> = {
  page: (api: Api, query: Wanted) => Promise<Answer>;
  itemsOf: (page: Answer) => readonly Item[];
};

/** A list, and what of it is in its table. */
export type List<Wanted extends Paging, Answer extends Page, Item> = Pages<Wanted, Answer, Item> & {
  columns: readonly Column<NoInfer<Item>>[];
};

/** An option of a list that becomes a parameter of its query. */
export type Filter<Wanted> = {
  parameter: keyof Wanted & string;
  flags: string;
  description: string;
  parse?: (text: string) => unknown;
};

/** A group of commands, `tollgate plans …`. Wrong usage is thrown, so that one place chooses the exit code. */
export function newGroup(name: string, description: string): Command {
  return new Command(name)
    .description(description)
    .exitOverride()
    .configureHelp({ showGlobalOptions: true, optionDescription })
    .showHelpAfterError('(see --help)')
    .helpCommand(false);
}

/** Marks what a command can't do without, which commander's own help doesn't. */
function optionDescription(option: Option): string {
  const text = new Help().optionDescription(option);
  return option.mandatory && option.defaultValue === undefined ? `${text} (required)` : text;
}

/** The options of addPaging, as commander has read them. */
export type ListOptions = { limit?: number; cursor?: string; all?: boolean } & Record<string, unknown>;

/** One page, or all of them: `list`, or by another `name`. */
export function addList<Wanted extends Paging, Answer extends Page, Item extends Row>(
  group: Command,
  open: Open,
  list: List<Wanted, Answer, Item> & {
    name?: string;
    description: string;
    filters?: readonly Filter<NoInfer<Wanted>>[];
  },
): void {
  const { name = 'list', description, filters = [] } = list;
  const command = group.command(name).description(description);
  addPaging(command, filters).action(async (options: ListOptions) => {
    await showList(open(), list, queryFrom<Wanted>(options, filters), options);
  });
}

/** The options of a list. */
export function addPaging<Wanted>(command: Command, filters: readonly Filter<Wanted>[]): Command {
  for (const { flags, description, parse } of filters) {
    if (parse === undefined) command.option(flags, description);
    else command.option(flags, description, parse);
  }
  return command
    .option('--limit <number>', 'items per page, 1 to 200 (default 50)', values.pageSize)
    .option('--cursor <cursor>', 'cursor of the next page (next_cursor)')
    .option('--all', 'fetch all pages; with --json, print one item per line');
}

/** The parameters that the filters' options stand for. The API refuses what isn't one of its values. */
export function queryFrom<Wanted>(options: ListOptions, filters: readonly Filter<Wanted>[]): Wanted {
  const given = filters.map(({ flags, parameter }) => [parameter, options[attributeOf(flags)]] as const);
  return Object.fromEntries(given.filter(([, value]) => value !== undefined)) as Wanted;
}

/** `--not-before <time>` is `notBefore` in what commander has read. */
function attributeOf(flags: string): string {
  const name = (flags.split(' ')[0] ?? '').slice(2);
  return name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
}

/** Shows one page, or every item of all pages as they come. */
export async function showList<Wanted extends Paging, Answer extends Page, Item extends Row>(
  session: Session,
  { columns, ...pages }: List<Wanted, Answer, Item>,
  filters: Wanted,
  { limit, cursor, all = false }: { limit?: number; cursor?: string; all?: boolean },
): Promise<void> {
  const from = cursor === undefined ? filters : { ...filters, cursor };
  if (!all) {
    const page = await pages.page(session.api, limit === undefined ? from : { ...from, limit });
    const { next_cursor: next } = page;
    await session.show(page, () => tableLines(columns, pages.itemsOf(page)));
    if (!session.json && next !== null) process.stderr.write(`More: --cursor ${next}, or --all\n`);
    return;
  }
  const rows: Item[] = [];
  for await (const items of pagesOf(session.api, pages, { ...from, limit: limit ?? 200 })) {
    if (session.json) await session.print(items.map((item) => JSON.stringify(item)));
    else rows.push(...items);
  }
  if (!session.json) await session.print(tableLines(columns, rows));
}

/** The items of one page after another. */
export async function* pagesOf<Wanted extends Paging, Answer extends Page, Item>(
  api: Api,
  { page, itemsOf }: Pages<Wanted, Answer, Item>,
  query: Wanted,
): AsyncGenerator<readonly Item[]> {
  for (let wanted = query; ;) {
    const answer = await page(api, wanted);
    yield itemsOf(answer);
    if (answer.next_cursor === null) return;
    wanted = { ...query, cursor: answer.next_cursor };
  }
}

/** The answers of what is asked for page after page, as `cursor` in a body. */
export async function* answersOf<Asked extends { cursor?: string }, Answer extends Page>(
  ask: (body: Asked) => Promise<Answer>,
  first: Asked,
): AsyncGenerator<Answer> {
  for (let body = first; ;) {
    const answer = await ask(body);
    yield answer;
    if (answer.next_cursor === null) return;
    body = { ...first, cursor: answer.next_cursor };
  }
}

/** `get <id>`. */
export function addGet(
  group: Command,
  open: Open,
  { name, get }: { name: string; get: (api: Api, id: number) => Promise<Row> },
): void {
  group
    .command('get')
    .description('Show details')
    .argument(`<${name}>`, 'ID', values.id)
    .action(async (id: number) => {
      const session = open();
      await showRecord(session, await get(session.api, id));
    });
}

export function showRecord(session: Session, answer: Row): Promise<void> {
  return session.show(answer, () => recordLines(answer));
}

type Action = { id: string; name: string; description: string; question?: (id: number) => string } & (
  | { act: (api: Api, id: number) => Promise<Row> }
  /** Of what needs a reason. */
  | { actWithReason: (api: Api, id: number, reason: ReasonHeader) => Promise<Row> }
);

/** A command that does something to the thing with an id, and asks first where there is something to lose. */
export function addAction(group: Command, open: Open, action: Action): void {
  const { id: idName, name, description, question } = action;
  const command = group.command(name).description(description).argument(`<${idName}>`, 'ID', values.id);
  if (question !== undefined) addYes(command);
  command.action(async (id: number, options: { yes?: boolean }) => {
    const session = open();
    const act = actOf(action, session);
    if (question !== undefined) await confirm(question(id), options);
    await showRecord(session, await act(id));
  });
}

/** @throws {Failure} usage, where a reason is missing; before anything is asked */
function actOf(action: Action, { api, needReason }: Session): (id: number) => Promise<Row> {
  if ('act' in action) return (id) => action.act(api, id);
  const reason = needReason();
  return (id) => action.actWithReason(api, id, reason);
}

export function addYes(command: Command): Command {
  return command.option('--yes', 'skip confirmation; required without a terminal');
}
