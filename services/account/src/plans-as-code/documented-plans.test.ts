import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { parsePlans } from './document.ts';

const DOCS = new URL('../../../../docs/', import.meta.url);

const yamlBlocks = (page: string) =>
  [...readFileSync(new URL(page, DOCS), 'utf8').matchAll(/^```yaml\n([^]*?)^```/gm)].map(
    ([, block = '']) => block,
  );

test.each(['plans-as-code.md', 'overage.md'])('the files of plans in docs/%s are valid', (page) => {
  const [file = '', ...others] = yamlBlocks(page);
  expect(Object.keys(parsePlans(file).plans ?? {})).toEqual(['starter']);
  // A line that is put above a file, for editors.
  for (const line of others) {
    expect(parsePlans(line + file)).toEqual(parsePlans(file));
    expect(existsSync(new URL(/\$schema=(\S+)/.exec(line)?.[1] ?? '-', DOCS))).toBe(true);
  }
});
