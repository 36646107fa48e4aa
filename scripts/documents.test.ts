import { spawnSync } from 'node:child_process';
import { existsSync, globSync, readFileSync, readdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import GithubSlugger from 'github-slugger';

/** Facts that documents repeat, beside their source. */

const read = (path: string) => readFileSync(path, 'utf8');

/** Folders that hold no source of ours. */
const LEFT_OUT = /(?:^|\/)(?:node_modules|dist|coverage|\.git|\.tollgate)$/;

const FILES = globSync(
  '{*,.*,.ci/*,{services,packages,tools,clients,sample-payments,sample-upstream,e2e,bench,k8s,docs,scripts}/**}',
  {
    exclude: (name) => LEFT_OUT.test(name),
  },
);

const DOCUMENTS = FILES.filter((path) => path.endsWith('.md'));

/** Decisions and the changelog are of their day, and name what there was then. */
const isOfItsDay = (path: string) => /^(?:docs\/adr\/\d|CHANGELOG)/.test(path);

const withoutFences = (document: string) => document.replaceAll(/^ *```[^]*?^ *```/gm, '');

/** Code blocks of the operators' book, by language: pages whose blocks a suite of what they are for runs or reads. */
const TESTED_ELSEWHERE: Readonly<Record<string, readonly string[]>> = {
  // Values of the chart, files of Compose and of plans, and Prometheus' configuration.
  yaml: [
    'docs/containers.md',
    'docs/kubernetes.md',
    'docs/metrics.md',
    'docs/overage.md',
    'docs/plans-as-code.md',
  ],
  // Postgres' settings, with which e2e/src/backup.test.ts starts its servers.
  ini: ['docs/backup.md'],
  graphql: ['docs/upstreams.md'],
  haproxy: ['docs/load-balancing.md'],
  nginx: ['docs/load-balancing.md'],
  go: ['docs/webhooks.md'],
  http: ['docs/webhooks.md'],
  js: ['docs/webhooks.md'],
  python: ['docs/webhooks.md'],
  // The reference of the command, which is generated, and drawings.
  text: ['docs/architecture.md', 'docs/command.md', 'docs/design/agents.md', 'docs/design/authorization.md'],
  mermaid: ['docs/architecture.md'],
};

/** Shell that can be read: `<id>` would be a redirection. */
const withoutPlaceholders = (code: string) => code.replaceAll(/<[\w-]+>/g, 'X');

/** The rows of the Markdown tables under a heading, as cells. */
function rowsUnder(document: string, heading: string): string[][] {
  const section = document.split(new RegExp(`^#+ ${heading}$`, 'm'))[1]?.split(/^#+ /m)[0] ?? '';
  const rows = section.split('\n').filter((line) => line.startsWith('| `'));
  return rows.map((row) => row.split('|').map((cell) => cell.trim()));
}

describe('documents', () => {
  test('every row is in a table, under its head', () => {
    const stray = DOCUMENTS.flatMap((path) => {
      const text = withoutFences(read(path));
      const tables = [...text.matchAll(/(?:^ *\|.*\n)+/gm)].map(([table]) => table.split('\n'));
      const headless = tables.filter(([, rule = '']) => !/^ *\|(?: *:?-+:? *\|)+$/.test(rule));
      return headless.map(([row = '']) => `${path}: ${row.slice(0, 60)}`);
    });
    expect(stray).toEqual([]);
  });

  test('every operation of the public API is a row of the README of its service', () => {
    const { paths } = JSON.parse(read('docs/openapi.json')) as {
      paths: Record<string, Record<string, unknown>>;
    };
    const rows = ['auth', 'gateway'].flatMap((service) =>
      read(`services/${service}/README.md`)
        .split('\n')
        .filter((line) => /^\| `[A-Z]+/.test(line))
        .map((line): readonly string[] => line.split('|')[1]?.match(/[^\s`,]+/g) ?? []),
    );
    const missing = Object.entries(paths)
      // account's have the documents instead.
      .filter(([path]) => !path.startsWith('/api/'))
      .flatMap(([path, operations]) => Object.keys(operations).map((method) => [method.toUpperCase(), path]))
      .filter(([method = '', path = '']) => !rows.some((row) => row.includes(method) && row.includes(path)))
      .map((route) => route.join(' '));
    expect(missing).toEqual([]);
  });

  test('the README of account names each document of its API', () => {
    const readme = read('services/account/README.md');
    const documents = globSync('docs/openapi*.json').filter((path) => path !== 'docs/openapi-auth.json');
    expect(documents.length).toBeGreaterThan(2);
    expect(documents.filter((path) => !readme.includes(`(../../${path})`))).toEqual([]);
  });

  test('the programs of account are listed, and counted rightly', () => {
    const programs = readdirSync('services/account/src/programs').filter((name) => /^[\w-]+\.ts$/.test(name));
    const section =
      read('services/account/README.md')
        .split(/^## Programs$/m)[1]
        ?.split(/^## /m)[0] ?? '';
    const listed = [...section.matchAll(/^- `src\/programs\/([\w-]+\.ts)`/gm)].map(([, name]) => name);
    expect(listed.toSorted()).toEqual(programs.toSorted());
    expect(section).toContain(
      `${['No', 'One', 'Two', 'Three', 'Four', 'Five'][programs.length] ?? ''} programs`,
    );
  });

  test('the folders of account are those that there are', () => {
    const folders = readdirSync('services/account/src', { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name)
      .toSorted();
    const listed = (document: string, heading: string) =>
      rowsUnder(read(document), heading)
        .flatMap(([, names = '']) => [...names.matchAll(/`([\w-]+)`/g)].map(([, name]) => name))
        .toSorted();
    expect(listed('services/account/README.md', 'Source')).toEqual(folders);
    expect(listed('docs/architecture.md', 'The rooms')).toEqual(folders);
  });

  test('files that the architecture names exist', () => {
    const text = read('docs/architecture.md');
    const paths = [...text.matchAll(/`((?:gateway|auth|account)\/src\/[\w./-]+)`/g)].map(
      ([, path = '']) => `services/${path}`,
    );
    expect(paths.length).toBeGreaterThan(5);
    expect(paths.filter((path) => !existsSync(path))).toEqual([]);
    const files = globSync('{services/gateway,packages/*}/src/**/*.ts');
    const call = /^- listen:[^]*?^- settle:.*$/m.exec(text)?.[0] ?? '';
    const names = [...call.matchAll(/`([\w/-]+)`/g)].map(([, name = '']) => name);
    expect(names.length).toBeGreaterThan(50);
    const isThere = (name: string) =>
      existsSync(name) ||
      files.some((path) => path.endsWith(`/${name}.ts`)) ||
      files.some((path) => path.includes(`/src/${name}/`));
    expect(names.filter((name) => !isThere(name))).toEqual([]);
  });

  test('what the gateway passes on is listed', () => {
    const passed = [...read('services/gateway/src/app.ts').matchAll(/below\('([^']+)'/g)].map(
      ([, path = '']) => path,
    );
    expect(passed.length).toBeGreaterThan(5);
    const listeners =
      read('docs/architecture.md')
        .split(/^## Listeners$/m)[1]
        ?.split(/^## /m)[0] ?? '';
    const named = [...listeners.matchAll(/`(\/[^`]+)`/g)].map(([, path = '']) => path);
    expect(
      passed.filter((path) => !named.some((each) => path === each || path.startsWith(`${each}/`))),
    ).toEqual([]);
  });

  test('every document of the folder is in its list', () => {
    const listed = read('docs/README.md');
    const documents = globSync('docs/*.md').filter((path) => !path.endsWith('README.md'));
    expect(documents.filter((path) => !listed.includes(`(${basename(path)})`))).toEqual([]);
  });

  test("every code block of the customers' book says whether it is run", () => {
    const blocks = globSync('docs/customers/*.md').flatMap((path) =>
      [...read(path).matchAll(/^```(.*)\n[^]*?^```/gm)].map(([, info = '']) => `${path}: ${info}`),
    );
    expect(blocks.length).toBeGreaterThan(5);
    expect(blocks.filter((block) => !/: \w+ (?:run|setup|output|sample)$/.test(block))).toEqual([]);
  });

  test('samples of the customers’ book are those that other suites run', () => {
    const written = globSync('docs/customers/*.md').flatMap((path) => {
      const byHand = read(path).replaceAll(/^<!-- generated: [^]*?^<!-- end -->/gm, '');
      return [...byHand.matchAll(/^```(\w+) sample\n([^]*?^```)/gm)].map(
        ([, language = '', code = '']) => `\`\`\`${language}\n${code}`,
      );
    });
    const run = ['docs/webhooks.md', 'clients/typescript/README.md', 'clients/python/README.md']
      .map(read)
      .join();
    expect(written.filter((block) => !run.includes(block))).toEqual([]);
  });

  test('code blocks of the operators’ book say their language, and are written in it', () => {
    const blocks = globSync('docs/{,guides/,design/}*.md').flatMap((path) =>
      [...read(path).matchAll(/^( *)```(.*)\n([^]*?)^ *```/gm)].map(
        ([, indent = '', language, code = '']) => ({
          path,
          language,
          code: code.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
        }),
      ),
    );
    const of = (wanted: string) => blocks.filter(({ language }) => language === wanted);
    expect(of('sh').length).toBeGreaterThan(20);
    const faults = of('sh').flatMap(({ path, code }) => {
      const { status, stderr } = spawnSync('bash', ['-n'], { input: withoutPlaceholders(code) });
      return status === 0 ? [] : [`${path}: ${String(stderr)}`];
    });
    expect(faults).toEqual([]);
    for (const { code } of of('json')) expect(() => JSON.parse(code) as unknown).not.toThrow();
    const others = Map.groupBy(
      blocks.filter(({ language = '' }) => !['sh', 'json'].includes(language)),
      ({ language = '' }) => language,
    );
    const places = [...others].map(([language, each]) => [language, new Set(each.map(({ path }) => path))]);
    expect(Object.fromEntries(places)).toEqual(
      Object.fromEntries(
        Object.entries(TESTED_ELSEWHERE).map(([language, paths]) => [language, new Set(paths)]),
      ),
    );
  });

  test('the folders that the architecture lists exist', () => {
    const tree = /^```text\nservices\/<name>\/\n([^]*?)^```/m.exec(read('docs/architecture.md'))?.[1] ?? '';
    const names = [...tree.matchAll(/^( *)([\w./-]+) /gm)].map(([, indent, name = '']) =>
      indent === '' ? name : `services/account/${name}`,
    );
    expect(names.length).toBeGreaterThan(10);
    expect(names.filter((name) => !existsSync(name))).toEqual([]);
  });

  test('every term of the glossary is used', () => {
    const plain = (text: string) => text.toLowerCase().replaceAll(/[\s_-]/g, '');
    const rest = FILES.filter((path) => /\.(?:tsx?|md)$/.test(path) && path !== 'docs/glossary.md');
    const text = plain(rest.map(read).join('\n'));
    const terms = [...read('docs/glossary.md').matchAll(/^\| (?!term |---)([^|]+?) +\|/gm)].flatMap(
      ([, cell = '']) => cell.replaceAll(/ \(.*?\)/g, '').split(', '),
    );
    expect(terms.length).toBeGreaterThan(50);
    expect(terms.filter((term) => !text.includes(plain(term)))).toEqual([]);
  });

  test('every chapter of the design is in its list, and every decision names one', () => {
    const list = read('docs/design/README.md');
    const chapters = globSync('docs/design/*.md').filter((path) => !path.endsWith('README.md'));
    expect(chapters.filter((path) => !list.includes(`(${basename(path)})`))).toEqual([]);
    const decisions = globSync('docs/adr/[0-9]*.md');
    expect(decisions.filter((path) => !read(path).includes('](../design/'))).toEqual([]);
  });

  test('every decision is in their list once, in order', () => {
    const listed = [...read('docs/adr/README.md').matchAll(/^\| \[\d{4}\]\(([^)]+)\)/gm)].map(
      ([, name]) => name,
    );
    expect(listed).toEqual(
      readdirSync('docs/adr')
        .filter((name) => /^\d{4}-/.test(name))
        .toSorted(),
    );
  });

  test('documents that the code names exist', () => {
    const code = FILES.filter((path) => /\.(?:tsx?|mjs|ya?ml|tpl|json)$|Dockerfile$/.test(path));
    const missing = code.flatMap((path) =>
      [...read(path).matchAll(/\bdocs\/[\w/-]+\.md\b/g)]
        .filter(([document]) => !existsSync(document))
        .map(([document]) => `${path}: ${document}`),
    );
    expect(missing).toEqual([]);
  });

  test('paths that the documentation names exist', () => {
    const missing = DOCUMENTS.filter((path) => !isOfItsDay(path)).flatMap((path) =>
      [...withoutFences(read(path)).matchAll(/`([\w.@/-]+)`/g)]
        .map(([, name = '']) => name)
        .filter((name) => isPath(name) && !isThere(name, dirname(path)))
        .map((name) => `${path}: ${name}`),
    );
    expect(missing).toEqual([]);
  });

  test('pages of the web interface lead to headings of the customers’ book that there are', () => {
    const pages = read('packages/console/src/shell/pages.ts');
    const sections = [...pages.matchAll(/ docs: '([^']*)'/g)].map(([, section = '']) => section);
    const broken = sections.filter((section) => {
      const [, page = '', , anchor] = /^\/?([\w-]*)(#(.*))?$/.exec(section) ?? [];
      const document = read(`docs/customers/${page === '' ? 'index' : page}.md`);
      return anchor !== undefined && !anchorsOf(document).has(anchor);
    });
    expect(sections.length).toBeGreaterThan(10);
    expect(broken).toEqual([]);
  });

  test.each([
    ['setting', 'docs/configuration.md', /^\| `([A-Z][A-Z\d]*(?:_[A-Z\d]+)+)`/gm],
    ['header', 'docs/customers/limits.md', /^\| `([A-Z][\w-]+)`/gm],
    ['command', 'docs/command.md', /^#### (.+)$/gm],
    ['code', 'docs/customers/errors.md', /^### `(\w+)`$/gm],
  ])('each %s has one row or heading in a chapter of %s, which is its address', (_, path, pattern) => {
    const chapters = read(path)
      .split(/^## /m)
      .map((chapter) => [...chapter.matchAll(pattern)].map(([, name]) => name));
    expect(chapters.flat().length).toBeGreaterThan(5);
    const twice = chapters.flatMap((names) => names.filter((name, index) => names.indexOf(name) !== index));
    expect(twice).toEqual([]);
  });

  test('links lead to files and headings that there are', () => {
    const broken = DOCUMENTS.flatMap((path) =>
      [...withoutFences(read(path)).matchAll(/\]\((?!https?:|mailto:)([^)#\s]*)(?:#([^)\s]+))?\)/g)]
        .filter(([, file = '', anchor]) => {
          const target = file === '' ? path : join(dirname(path), file);
          if (!existsSync(target)) return true;
          return anchor !== undefined && target.endsWith('.md') && !anchorsOf(read(target)).has(anchor);
        })
        .map(([link]) => `${path}: ${link}`),
    );
    expect(broken).toEqual([]);
  });
});

/** Files that a reader makes. */
const YOURS = new Set(['docker-compose.override.yml']);

const EXTENSION = /\.(?:tsx?|d\.mts|mjs|cjs|md|ya?ml|tpl|css|sql)$/;

/** `src/token`, `services/auth/src`, `ui/locale.ts`, `config.ts`; not `/api/usage`, `application/json` or `index.html`. */
function isPath(name: string): boolean {
  if (name.startsWith('/') || name.startsWith('@') || name.includes('//') || YOURS.has(name)) return false;
  if (EXTENSION.test(name)) return !name.startsWith('.');
  const [first = '', ...rest] = name.replace(/\/$/, '').split('/');
  return rest.length > 0 && (first === 'src' || first === 'test' || ROOMS.has(first));
}

/** First names of paths: from the top, or from a folder of services. */
const ROOMS = new Set([
  ...readdirSync('.', { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name),
  ...readdirSync('services'),
]);

const ALL = new Set(FILES);

/** From the top, from the document's folder or its `src`, or the end of a file's path. What is built isn't checked. */
function isThere(name: string, folder: string): boolean {
  const path = name.replace(/\/$/, '');
  if (path.split('/').some((part) => LEFT_OUT.test(part))) return true;
  return (
    ['', 'services', folder, join(folder, 'src')].some((from) => ALL.has(join(from, path))) ||
    (EXTENSION.test(path) && FILES.some((file) => file.endsWith(`/${path}`)))
  );
}

/** As GitHub names them. */
function anchorsOf(document: string): Set<string> {
  const slugger = new GithubSlugger();
  const titles = [...withoutFences(document).matchAll(/^#+ (.*)$/gm)].map(([, title = '']) => title);
  return new Set(titles.map((title) => slugger.slug(title.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1'))));
}
