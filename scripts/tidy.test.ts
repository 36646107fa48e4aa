import { globSync, readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';

/** What people read; the glossary names old terms, and the command's page and the results are generated. */
const PROSE = globSync(
  '{*.md,docs/**/*.md,{services,packages,tools,clients}/*/README.md,{bench,sample-payments,sample-upstream}/README.md}',
).filter((path) => !/^docs\/(?:glossary|command|capacity)\.md$/.test(path));

/** The glossary has the right terms. */
const UNWANTED =
  /\b(?:somebody|whoever|nobody|hopefully|mend(?:s|ed)?|standing|hand-made|patience|troubles|made by hand)\b/gi;

const BUILT = /(?:^|\/)(?:node_modules|dist)$/;

/** Not the tests, whose names and hostile inputs are free, nor the migrations, which do not change once released. */
const CODE = globSync(
  ['{services,packages,tools,clients,e2e,bench,sample-payments,sample-upstream,scripts}/**/*.{ts,tsx,mjs}'],
  {
    exclude: (name) => BUILT.test(name),
  },
).filter((path) => !/\.test\.ts$|\/test\/|\/migrations\//.test(path));

const SUITES = globSync(['{services,packages,tools,clients,e2e,sample-*,scripts}/**/*.ts'], {
  exclude: (name) => BUILT.test(name),
}).filter((path) => /\.test\.ts$|\/test\/|^e2e\//.test(path));

const MAX_DECISION_WORDS = 550;

const MAX_TABLE_CELL_CHARACTERS = 170;

/** From a call's name to its closing parenthesis; a parenthesis in a text counts, too. */
function argumentsAt(text: string, index: number): string {
  let open = 0;
  for (let at = text.indexOf('(', index); at < text.length; at += 1) {
    if (text[at] === '(') open += 1;
    if (text[at] === ')') open -= 1;
    if (open === 0) return text.slice(index, at + 1);
  }
  return text.slice(index);
}

describe('tidy', () => {
  test('documentation is written in plain words', () => {
    const found = PROSE.flatMap((path) => {
      // Identifiers, paths and link targets are no prose.
      const prose = readFileSync(path, 'utf8').replaceAll(/```[^]*?```|`[^`\n]*`|\]\([^)]*\)/g, '');
      return [...prose.matchAll(UNWANTED)].map(([word]) => `${path}: ${word}`);
    });
    expect(found).toEqual([]);
  });

  test('comments and texts of the code are written in plain words', () => {
    const found = CODE.flatMap((path) =>
      [...readFileSync(path, 'utf8').matchAll(UNWANTED)].map(([word]) => `${path}: ${word}`),
    );
    expect(found).toEqual([]);
  });

  test('a wait asserts nothing, since what fails within its condition is tried again', () => {
    const found = SUITES.flatMap((path) => {
      const text = readFileSync(path, 'utf8');
      const waits = [...text.matchAll(/\bwaitFor\(/g)].map(({ index }) => argumentsAt(text, index));
      return waits.filter((wait) => wait.includes('expect(')).map((wait) => `${path}: ${wait}`);
    });
    expect(found).toEqual([]);
  });

  test('a decision fits a page', () => {
    const long = globSync('docs/adr/[0-9]*.md').filter((path) => {
      // What a later decision amends is told in a line of its own.
      const decision = readFileSync(path, 'utf8').replace(/^\*\*Amended .*$/gm, '');
      return decision.trim().split(/\s+/).length > MAX_DECISION_WORDS;
    });
    expect(long).toEqual([]);
  });

  test('what is too long for a table cell is text', () => {
    const long = PROSE.flatMap((path) => {
      const rows = readFileSync(path, 'utf8').split('\n');
      return rows
        .filter((row) => row.startsWith('|'))
        .flatMap((row) => row.split(/(?<!\\)\|/))
        .filter((cell) => cell.trim().length > MAX_TABLE_CELL_CHARACTERS)
        .map((cell) => `${path}: ${cell.trim().slice(0, 60)}`);
    });
    expect(long).toEqual([]);
  });

  test('every decision has a number of its own, a title with that number, and a line in the index', () => {
    const files = globSync('docs/adr/[0-9]*.md').map((path) => path.replace('docs/adr/', ''));
    const numbers = files.map((name) => name.slice(0, 4));
    expect(new Set(numbers).size).toBe(files.length);
    const index = readFileSync('docs/adr/README.md', 'utf8');
    for (const name of files) {
      expect(readFileSync(`docs/adr/${name}`, 'utf8')).toMatch(new RegExp(`^# ${name.slice(0, 4)} `));
      expect(index).toContain(`(${name})`);
    }
  });

  test('every service and the sample have a README', () => {
    for (const manifest of globSync('{services/*,sample-payments,sample-upstream}/package.json')) {
      expect(readFileSync(manifest.replace('package.json', 'README.md'), 'utf8')).toMatch(/^# /);
    }
  });

  test('the lockfile holds no registry address', () => {
    expect(readFileSync('pnpm-lock.yaml', 'utf8')).not.toMatch(/tarball:|https?:\/\//);
  });

  test('every dependency has an exact version', () => {
    for (const path of [
      'package.json',
      ...globSync('{services,packages,tools,clients}/*/package.json'),
      'e2e/package.json',
      'bench/package.json',
    ]) {
      const manifest = JSON.parse(readFileSync(path, 'utf8')) as Record<
        string,
        Record<string, string> | undefined
      >;
      for (const [name, version] of Object.entries({
        ...manifest['dependencies'],
        ...manifest['devDependencies'],
      })) {
        expect(`${path} ${name} ${version}`).toMatch(/ (npm:[@\w/-]+@)?\d+\.\d+\.\d+[\w.-]*$| workspace:\*$/);
      }
    }
  });
});
