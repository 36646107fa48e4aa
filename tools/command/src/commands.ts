import { Command, Help } from 'commander';
import type { Option } from 'commander';
import type { Answer, Parameters } from './api.ts';
import { confirm } from './confirm.ts';
import { recordLines, tableLines } from './output.ts';
import type { Row } from './output.ts';
import type { Open, Session } from './session.ts';
import * as values from './values.ts';

/** The commands that most nouns have. */

/** What a list holds, and where it is. */
export type Noun = {
  path: string;
  /** The member of a page that holds the items. */
  items: string;
  /** Of the table. */
  columns: readonly string[];
};

/** An option of a list that becomes a parameter of its query. */
export type Filter = {
  parameter: string;
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

/** `list`: one page, or all of them. */
export function addList(
  group: Command,
  open: Open,
  { description, ...noun }: Noun & { description: string; filters?: readonly Filter[] },
): void {
  const command = group.command('list').description(description);
  addPaging(command, noun.filters ?? []).action(async (options: ListOptions) => {
    await showList(open(), noun, queryFrom(options, noun.filters ?? []), options);
  });
}

/** `{name} <id>`: a list of what one of the group's things has. */
export function addListOf(
  group: Command,
  open: Open,
  {
    name,
    id: idName,
    description,
    pathOf,
    ...noun
  }: Omit<Noun, 'path'> & {
    name: string;
    id: string;
    description: string;
    pathOf: (id: number) => string;
    filters: readonly Filter[];
  },
): void {
  const command = group.command(name).description(description).argument(`<${idName}>`, 'ID', values.id);
  addPaging(command, noun.filters).action(async (id: number, options: ListOptions) => {
    await showList(open(), { ...noun, path: pathOf(id) }, queryFrom(options, noun.filters), options);
  });
}

/** The options of a list. */
export function addPaging(command: Command, filters: readonly Filter[]): Command {
  for (const { flags, description, parse } of filters) {
    if (parse === undefined) command.option(flags, description);
    else command.option(flags, description, parse);
  }
  return command
    .option('--limit <number>', 'items per page, 1 to 200 (default 50)', values.pageSize)
    .option('--cursor <cursor>', 'cursor of the next page (next_cursor)')
    .option('--all', 'fetch all pages; with --json, print one item per line');
}

/** The parameters that the filters' options stand for. */
export function queryFrom(options: ListOptions, filters: readonly Filter[]): Parameters {
  return Object.fromEntries(
    filters.map(({ flags, parameter }) => [parameter, options[attributeOf(flags)] as string | undefined]),
  );
}

/** `--not-before <time>` is `notBefore` in what commander has read. */
function attributeOf(flags: string): string {
  const name = (flags.split(' ')[0] ?? '').slice(2);
  return name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
}

/** Shows one page, or every item of all pages as they come. */
export async function showList(
  session: Session,
  noun: Noun,
  filters: Parameters,
  { limit, cursor, all = false }: { limit?: number; cursor?: string; all?: boolean },
): Promise<void> {
  if (!all) {
    const answer = await session.api.get(noun.path, { ...filters, limit, cursor });
    const next = answer.body['next_cursor'];
    await session.show(answer, () => tableLines(noun.columns, itemsOf(answer, noun)));
    if (!session.json && typeof next === 'string') process.stderr.write(`More: --cursor ${next}, or --all\n`);
    return;
  }
  const rows: Row[] = [];
  for await (const page of pagesOf(session, noun, { ...filters, limit: limit ?? 200, cursor })) {
    if (session.json) await session.print(page.map((item) => JSON.stringify(item)));
    else rows.push(...page);
  }
  if (!session.json) await session.print(tableLines(noun.columns, rows));
}

/** The items of one page after another. */
export async function* pagesOf(
  { api }: Pick<Session, 'api'>,
  noun: Pick<Noun, 'path' | 'items'>,
  query: Parameters,
): AsyncGenerator<readonly Row[]> {
  let cursor = query['cursor'];
  do {
    const answer = await api.get(noun.path, { ...query, cursor });
    yield itemsOf(answer, noun);
    const next = answer.body['next_cursor'];
    cursor = typeof next === 'string' ? next : undefined;
  } while (cursor !== undefined);
}

function itemsOf({ body }: Answer, { items }: Pick<Noun, 'items'>): readonly Row[] {
  return (body[items] ?? []) as readonly Row[];
}

/** `get <id>`. */
export function addGet(group: Command, open: Open, { path, name }: { path: string; name: string }): void {
  group
    .command('get')
    .description('Show details')
    .argument(`<${name}>`, 'ID', values.id)
    .action(async (id: number) => {
      const session = open();
      await showRecord(session, await session.api.get(`${path}/${String(id)}`));
    });
}

export function showRecord(session: Session, answer: Answer): Promise<void> {
  return session.show(answer, () => recordLines(answer.body));
}

type ActionAt = { path: string } | { pathOf: (id: number, name: string) => string };

/** A command that POSTs to `{path}/{id}/{name}`, or another path, without a body, and asks first where there is something to lose. */
export function addAction(
  group: Command,
  open: Open,
  {
    id: idName,
    name,
    description,
    question,
    ...at
  }: ActionAt & { id: string; name: string; description: string; question?: (id: number) => string },
): void {
  const command = group.command(name).description(description).argument(`<${idName}>`, 'ID', values.id);
  if (question !== undefined) addYes(command);
  command.action(async (id: number, options: { yes?: boolean }) => {
    const session = open();
    if (question !== undefined) await confirm(question(id), options);
    const path = 'path' in at ? `${at.path}/${String(id)}/${name}` : at.pathOf(id, name);
    await showRecord(session, await session.api.send('POST', path, {}));
  });
}

export function addYes(command: Command): Command {
  return command.option('--yes', 'skip confirmation; required without a terminal');
}
