import { expect, test } from '@jest/globals';
import { IMAGE_NAMES } from '../build/image-list.ts';
import type { ImageName } from '../build/image-list.ts';
import { billOfImage, packagesIn as findPackages } from './bill-of-image.ts';
import { isAllowed } from './licences.ts';

const TIME_LIMIT_MS = 300_000;

/** An image is bundled once. */
const found = new Map<ImageName, ReturnType<typeof findPackages>>();

function packagesIn(image: ImageName): ReturnType<typeof findPackages> {
  const packages = found.get(image) ?? findPackages(image);
  found.set(image, packages);
  return packages;
}

test.each([
  ['MIT', true],
  ['(MIT OR GPL-3.0-only)', true],
  ['MIT AND GPL-3.0-only', false],
  ['Apache-2.0 AND (GPL-2.0-only OR ISC)', true],
  ['AGPL-3.0-or-later', false],
  ['SEE LICENSE IN LICENSE.md', false],
  ['', false],
])('a package under "%s" may be in an image: %s', (expression, allowed) => {
  expect(isAllowed(expression)).toBe(allowed);
});

test.each(IMAGE_NAMES)(
  'all packages in the image %s have an allowed licence',
  async (image) => {
    const packages = await packagesIn(image);
    expect(packages.filter(({ licence }) => !isAllowed(licence))).toEqual([]);
  },
  TIME_LIMIT_MS,
);

test(
  'a bill of materials names each package once, with its version, address and licence',
  async () => {
    const bill = JSON.parse(billOfImage('gateway', await packagesIn('gateway'))) as {
      components: { group?: string; name: string; version: string; purl: string; licenses: unknown[] }[];
    };
    const names = bill.components.map(({ group, name }) => (group === undefined ? name : `${group}/${name}`));
    expect(names).toEqual(expect.arrayContaining(['node', 'express', '@opentelemetry/api', 'undici']));
    // Built with, or only of account.
    for (const absent of ['esbuild', 'typescript', 'pg', 'react']) expect(names).not.toContain(absent);
    expect(bill.components).toContainEqual(
      expect.objectContaining({
        group: '@opentelemetry',
        name: 'api',
        purl: expect.stringMatching(/^pkg:npm\/%40opentelemetry\/api@\d/),
        licenses: [{ license: { id: 'Apache-2.0' } }],
      }),
    );
    const purls = bill.components.map(({ purl }) => purl);
    expect(new Set(purls).size).toBe(purls.length);
  },
  TIME_LIMIT_MS,
);

test(
  "account's includes the packages of the web interface and the book: scripts, workers, styles and fonts",
  async () => {
    const names = (await packagesIn('account')).map(({ name }) => name);
    expect(names).toEqual(
      expect.arrayContaining([
        'pg',
        'commander',
        'react',
        'monaco-graphql',
        '@fontsource-variable/inter',
        'swagger-ui-dist',
        '@astrojs/starlight',
        'pagefind',
      ]),
    );
    expect(names).not.toContain('vite');
  },
  TIME_LIMIT_MS,
);
