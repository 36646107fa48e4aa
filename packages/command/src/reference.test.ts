import { expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { createProgram } from './program.ts';
import { reference, withReference } from './reference.ts';
import { runCommand } from './suite/operated-stack.ts';

test('docs/command.md has every command as it is (node packages/command/src/write-reference.ts writes it)', () => {
  const document = readFileSync(new URL('../../../docs/command.md', import.meta.url), 'utf8');
  const text = reference(createProgram());
  expect(document).toContain(text);
  expect(withReference(document, text)).toBe(document);
});

test('--help shows a command’s own options and those of every command', async () => {
  const { code, stdout, stderr } = await runCommand(['plans', 'create', '--help']);
  expect([code, stderr]).toEqual([0, '']);
  for (const shown of ['--limit-points', '--description-file', '--json', '--credential-file']) {
    expect(stdout).toContain(shown);
  }
});
