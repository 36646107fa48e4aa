import { expect, test } from '@jest/globals';
import manifest from '../../package.json' with { type: 'json' };
import { runCommand } from '../../test/operated-stack.ts';

test('--help shows a command’s own options and those of every command', async () => {
  const { code, stdout, stderr } = await runCommand(['plans', 'create', '--help']);
  expect([code, stderr]).toEqual([0, '']);
  for (const shown of ['--limit-points', '--description-file', '--json', '--credential-file']) {
    expect(stdout).toContain(shown);
  }
});

test('help marks the options that a command can’t do without, and no others', async () => {
  const { stdout } = await runCommand(['help', 'tokens', 'revoke']);
  expect(stdout).toMatch(/--application <application_id> +application ID \(required\)$/m);
  expect(stdout.match(/\(required\)/g)).toHaveLength(1);
});

test('--version is that of the package', async () => {
  const { code, stdout } = await runCommand(['--version']);
  expect([code, stdout]).toEqual([0, `${manifest.version}\n`]);
});

test('help shows all commands, a group, or one command; of an unknown one it is a usage fault', async () => {
  const all = await runCommand(['help']);
  expect([all.code, all.stderr]).toEqual([0, '']);
  expect(all.stdout).toContain('plans');
  expect((await runCommand(['help', 'plans'])).stdout).toBe((await runCommand(['plans', '--help'])).stdout);
  const create = await runCommand(['help', 'plans', 'create']);
  expect([create.code, create.stdout]).toEqual([0, expect.stringContaining('--limit-points')]);
  const unknown = await runCommand(['help', 'plans', 'invent']);
  expect([unknown.code, unknown.stderr]).toEqual([2, expect.stringContaining('plans invent')]);
});
