import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { runInTerminal, startOperatedStack } from './operated-stack.ts';
import type { OperatedStack } from './operated-stack.ts';

let stack: OperatedStack;
let directory: string;

beforeAll(async () => {
  stack = await startOperatedStack();
  directory = await mkdtemp(join(tmpdir(), 'tollgate-plans-'));
});

afterAll(async () => {
  await stack.close();
  await rm(directory, { recursive: true });
});

async function file(text: string): Promise<string> {
  const path = join(directory, `${String(Math.random())}.yaml`);
  await writeFile(path, text);
  return path;
}

const PLANS = `
plans:
  coded:
    name: Coded
    description: { points_limit: 100 }
    prices: { month: { currency: eur, unit_amount: 4900 } }
  second: { name: Second }
`;

test('a file is compared, applied, exported and applied again', async () => {
  const path = await file(PLANS);
  const compared = await stack.run(['apply', '-f', path, '--diff']);
  expect(compared).toMatchObject({ code: 4 });
  expect(compared.stdout).toContain('+ create plan coded\n');
  expect(compared.stdout).toContain('    description.points_limit: 100\n');
  expect(await stack.run(['apply', '-f', path])).toMatchObject({ code: 2 });
  expect(await stack.run(['apply', '-f', path, '--yes'])).toMatchObject({ code: 0 });
  expect(await stack.run(['apply', '-f', path, '--diff'])).toMatchObject({ code: 0 });
  const exported = await file((await stack.run(['export'])).stdout);
  const again = await stack.run(['apply', '-f', exported, '--yes']);
  expect(again).toMatchObject({ code: 0, stdout: 'Nothing to change.\n' });
});

test('a removed limit, a changed price and what is pruned need a word of their own', async () => {
  await stack.run(['apply', '-f', await file(PLANS), '--yes']);
  const changed = await file(`
plans:
  coded: { description: { points_limit: null }, prices: { month: { currency: eur, unit_amount: 900 } } }
`);
  const refused = await stack.run(['apply', '-f', changed, '--yes']);
  expect(refused).toMatchObject({ code: 1 });
  expect(refused.stdout).toContain('Needs --allow-unlimited.');
  const pruning = ['apply', '-f', changed, '--yes', '--prune', '--allow-unlimited', '--allow-price-changes'];
  const unexpected = await stack.run(pruning);
  expect(unexpected).toMatchObject({ code: 2 });
  expect(unexpected.stderr).toContain('Add --expect-prune 1.');
  expect(await stack.run([...pruning, '--expect-prune', '3'])).toMatchObject({ code: 1 });
  expect(await stack.run([...pruning, '--expect-prune', '1'])).toMatchObject({ code: 0 });
  const { plans } = await stack.json<{ plans: { key: string; archived_at: string | null }[] }>(
    'plans',
    'list',
  );
  expect(plans.find(({ key }) => key === 'second')?.archived_at).toEqual(expect.any(String));
});

test('a faulty file is refused with the place of each fault, and one that can’t be read is wrong usage', async () => {
  const faulty = await stack.run(['apply', '-f', await file('plans: { a: { nmae: A } }'), '--yes']);
  expect(faulty).toMatchObject({ code: 1 });
  expect(faulty.stderr).toContain('plans.a.nmae: is not known here');
  expect(await stack.run(['apply', '-f', join(directory, 'nothing.yaml')])).toMatchObject({ code: 2 });
});

test('in a terminal, the number of what is pruned has to be typed', async () => {
  const both = ['apply', '-f', await file(PLANS), '--yes', '--allow-price-changes'];
  expect(await stack.run(both)).toMatchObject({ code: 0 });
  const args = ['apply', '-f', await file('plans:\n  coded: { name: Coded }\n'), '--prune'];
  const env = { TOLLGATE_URL: stack.url, TOLLGATE_CREDENTIAL: stack.credential };
  const asked = { env, asks: 'Type 1 to go on: ' };
  expect(await runInTerminal(args, { ...asked, answer: 'y' })).toContain('Cancelled. Nothing was changed.');
  const shown = await runInTerminal(args, { ...asked, answer: '1' });
  expect(shown).toContain('- archive plan second (not in the file)');
  expect(shown).toContain('Applied 1 change(s).');
});
