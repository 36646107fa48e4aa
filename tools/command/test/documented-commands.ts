import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command, Option } from 'commander';
import { createProgram } from '../src/program.ts';

/** The lines of the documents that call `tollgate`. */

const ROOT = join(import.meta.dirname, '../../..');

const DOCUMENTS = [
  '*.md',
  'docs/**/*.md',
  '{services,tools,packages}/*/README.md',
  '{bench,e2e,sample-upstream}/README.md',
  'k8s/tollgate/templates/NOTES.txt',
];

export type DocumentedCommand = {
  /** `docs/runbook.md: tollgate accounts block 7`. */
  name: string;
  words: readonly string[];
  /** Whether it is a line of a block, to be copied as it is. */
  isLine: boolean;
  /** The variable that gets this member of the answer: `PLAN=$(tollgate … --json | jq .plan_id)`. */
  variable?: { name: string; member: string };
};

/** Commands of a block are run one after the other; code within a sentence is a block of its own. */
export type DocumentedBlock = readonly DocumentedCommand[];

const CALLS =
  /(?:npm run --silent tollgate -- |(?:npx |docker compose exec account |kubectl [^`\n]* -- )?tollgate )/;
const LINE = new RegExp(`^ *(?:(?<variable>\\w+)=\\$\\()?${CALLS.source}(?<rest>.*)$`, 'gm');
const JQ = / \| jq \.(?<member>\w+)\)$/;

export function documentedBlocks(): DocumentedBlock[] {
  return globSync(DOCUMENTS, { cwd: ROOT, exclude: (path) => path.includes('node_modules') }).flatMap(
    (path) => {
      const text = readFileSync(join(ROOT, path), 'utf8');
      if (path.endsWith('.txt')) return [commandsIn(text, path, true)];
      const blocks = [...text.matchAll(/^```sh\n([^]*?)^```/gm)].map(([, block = '']) =>
        commandsIn(block, path, true),
      );
      const sentences = text.replaceAll(/^ *```[^]*?^ *```/gm, '');
      const inline = [...sentences.matchAll(new RegExp(`\`(${CALLS.source}[^\`…]+)\``, 'g'))];
      return [...blocks, ...inline.map(([, code = '']) => commandsIn(code, path, false))];
    },
  );
}

function commandsIn(block: string, path: string, isLine: boolean): DocumentedCommand[] {
  return [...block.matchAll(LINE)].map(({ groups }) => {
    const { variable, rest = '' } = groups ?? {};
    const { member } = JQ.exec(rest)?.groups ?? {};
    const command = rest.replace(JQ, '').replace(/\s+[#|<] .*$/, '');
    return {
      name: `${path}: tollgate ${command}`,
      words: wordsOf(command),
      isLine,
      ...(variable === undefined || member === undefined ? {} : { variable: { name: variable, member } }),
    };
  });
}

/** As a shell splits them. */
function wordsOf(command: string): string[] {
  return [...command.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(
    ([, single, double, bare]) => single ?? double ?? bare ?? '',
  );
}

/** The command that the first words name, and the words after them. */
export function found(words: readonly string[]): { command: Command; rest: readonly string[] } | null {
  let command: Command = createProgram();
  const rest = [...words];
  for (;;) {
    const next = command.commands.find((each) => each.name() === rest[0]);
    if (next === undefined) break;
    command = next;
    rest.shift();
  }
  const isWhole = command.commands.length === 0 || rest.length === 0;
  return command.parent === null || !isWhole ? null : { command, rest };
}

/** Parses the words with the real program, whose actions do nothing. Throws what it would refuse them with. */
export async function parse(words: readonly string[]): Promise<void> {
  const program = createProgram();
  quiet(program);
  await program.parseAsync([...words], { from: 'user' });
}

function quiet(command: Command): void {
  command.configureOutput({ writeErr: () => undefined, writeOut: () => undefined });
  if (command.commands.length === 0) command.action(() => undefined);
  for (const each of command.commands) quiet(each);
}

/** The words with each value replaced by what `valueOf` has for its name in the help, `account_id` for `<account_id>`. */
export async function withValues(
  words: readonly string[],
  valueOf: (name: string, written: string) => Promise<string>,
): Promise<string[]> {
  const { command, rest } = found(words) ?? { command: createProgram(), rest: [] };
  const path = words.slice(0, words.length - rest.length);
  const names = command.registeredArguments.map((argument) => argument.name());
  const valued: string[] = [];
  let option: Option | undefined;
  for (const word of rest) {
    if (word.startsWith('--')) {
      option = command.options.find(({ long }) => long === word);
      valued.push(word);
      continue;
    }
    const name =
      option?.required === true ? (/<([\w-]+)/.exec(option.flags)?.[1] ?? '') : (names.shift() ?? '');
    valued.push(await valueOf(name, word));
    if (option?.variadic !== true) option = undefined;
  }
  return [...path, ...valued];
}
