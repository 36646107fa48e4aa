import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { shellWord } from './languages/curl.ts';
import { goString } from './languages/go.ts';
import { asciiJson, javaString } from './languages/java.ts';
import { jsonExpression, templateLiteral } from './languages/javascript.ts';
import { tripleQuoted } from './languages/python.ts';

/** A compiler may take long on a busy machine. */
const COMPILE_TIME_LIMIT_MS = 120_000;

const HOSTILE = [
  '',
  `it's "quoted" \`id\` $HOME \${1 + 1} $(id) %s !x`,
  '"""',
  'ends in a quote "',
  'ends in a backslash \\',
  '\\u0041 \\n \\" \\\\',
  '</script><!-- --> ]]>',
  'lines\r\nof\rall\nkinds\u2028\u2029\u0085\u000b\u000c',
  '\u0000\u0007\u001b\u007f\ufeff',
  'é ß 漢 🎉',
  '\ud800 \udc00 halves',
  "*/ // # -- ''' ```",
];

const anything = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({
    unit: fc.constantFrom('"', "'", '`', '\\', '$', '{', '\n', '\r', '<', '/', 'u', '0', 'x', '@'),
  }),
);

const TEXTS = [...HOSTILE, ...fc.sample(anything, { numRuns: 300, seed: 59 })];

/** What JSON in UTF-8 can hold of a text. */
const utf8 = (text: string) => Buffer.from(text, 'utf8').toString('utf8');

const has = (command: string, ...args: string[]) => spawnSync(command, args).status === 0;

let directory: string;

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'tollgate-escaping-'));
});

afterAll(() => {
  rmSync(directory, { recursive: true });
});

/** Runs a source file and returns what it printed. */
function run(fileName: string, source: string, command: string, ...args: string[]): string {
  const file = join(directory, fileName);
  writeFileSync(file, source);
  return execFileSync(command, [...args, file], { encoding: 'utf8', maxBuffer: 10_000_000 });
}

function testIf(isThere: boolean): typeof test {
  return isThere ? test : (test.skip as typeof test);
}

describe('a text in a sample is the text that was typed, in', () => {
  test('a shell', () => {
    const bodies = TEXTS.map((text) => JSON.stringify({ query: text }));
    const program = 'process.stdout.write(JSON.stringify(process.argv.slice(1)))';
    const words = [process.execPath, '-e', program, '--', ...bodies].map(shellWord);
    expect(JSON.parse(run('words.sh', words.join(' '), 'sh'))).toEqual(bodies);
  });

  test('JavaScript', () => {
    const source = `console.log(JSON.stringify([${TEXTS.map(templateLiteral).join(',\n')}]));`;
    expect(source).not.toMatch(/<\/script|<!--/i);
    expect(JSON.parse(run('texts.mjs', source, process.execPath))).toEqual(TEXTS);
  });

  test('JavaScript, as variables', () => {
    const values = [
      ...fc.sample(fc.jsonValue(), { numRuns: 100, seed: 59 }),
      JSON.parse('{"__proto__": {"a": "`${1}`"}}') as unknown,
      ...TEXTS,
    ].map((value) => JSON.parse(JSON.stringify(value)) as unknown);
    const source = `console.log(JSON.stringify([${values.map(jsonExpression).join(',\n')}]));`;
    expect(run('values.mjs', source, process.execPath).trim()).toBe(JSON.stringify(values));
  });

  testIf(has('python3', '--version'))('Python', () => {
    const source = `import json\nprint(json.dumps([${TEXTS.map(tripleQuoted).join(',\n')}]))`;
    expect(JSON.parse(run('texts.py', source, 'python3'))).toEqual(TEXTS);
  });

  testIf(has('go', 'version'))(
    'Go',
    () => {
      const source = `package main
import ("encoding/json"; "os")
func main() { json.NewEncoder(os.Stdout).Encode([]string{${TEXTS.map(goString).join(',\n')}}) }`;
      expect(JSON.parse(run('texts.go', source, 'go', 'run'))).toEqual(TEXTS.map(utf8));
    },
    COMPILE_TIME_LIMIT_MS,
  );

  testIf(has('java', '--version'))(
    'Java',
    () => {
      const lines = TEXTS.map((text) => `System.out.println(${javaString(asciiJson(text))});`);
      const source = `public class Texts { public static void main(String[] a) {\n${lines.join('\n')}\n} }`;
      const printed = run('Texts.java', source, 'java').trim().split(/\r?\n/);
      expect(printed.map((line) => JSON.parse(line) as unknown)).toEqual(TEXTS);
    },
    COMPILE_TIME_LIMIT_MS,
  );
});
