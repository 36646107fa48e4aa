import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { runCommand as runProgram } from '@tollgate/stack/process';
import { runDirectory } from '@tollgate/testbed/config';
import { programFile } from '@tollgate/testbed/programs';
import { clientSecretPeppers, tokenSealingKeys } from '@tollgate/testbed/service-process';
import { documentedBlocks, found, parse, withValues } from './documented-commands.ts';
import type { DocumentedBlock, DocumentedCommand } from './documented-commands.ts';
import { startOperatedStack } from './operated-stack.ts';
import type { OperatedStack } from './operated-stack.ts';

const BLOCKS = documentedBlocks();

test('lines, variables and code in sentences are found', () => {
  const names = BLOCKS.flat().map(({ name }) => name);
  expect(names).toEqual(
    expect.arrayContaining([
      'docs/guides/first-call.md: tollgate accounts list',
      'docs/runbook.md: tollgate accounts block 7 --yes',
      'docs/containers.md: tollgate plans list',
    ]),
  );
  expect(BLOCKS.flat().filter(({ variable }) => variable !== undefined)).not.toEqual([]);
});

/** Code that only names a command or a group has nothing to be parsed or run. */
const isName = ({ words }: DocumentedCommand) => found(words)?.rest.length === 0;

const DAY_MS = 86_400_000;

const PLACEHOLDER = /^(?:<.*>|\$\w+)$/;

describe('the program accepts every command of the documents', () => {
  test.each(BLOCKS.flat().map((command) => [command.name, command] as const))(
    '%s',
    async (_name, command) => {
      expect(found(command.words)).not.toBeNull();
      if (isName(command) && !command.isLine) return;
      const example = (name: string) => (name === 'request_id' ? '0'.repeat(32) : '1');
      const words = await withValues(command.words, (name, written) =>
        Promise.resolve(PLACEHOLDER.test(written) ? example(name) : written),
      );
      await parse(words);
    },
  );
});

/** Months of usage, payments and plans as code have suites of their own; the gateways' names are examples. */
const RUN_ELSEWHERE = /: tollgate (?:seed |doctor --gateway-url |payments reconcile|apply )/;

/** What several documents say is run once, by the first of them. */
const RUNNABLE = [
  ...Map.groupBy(
    BLOCKS.map((block) =>
      block.filter((command) => !RUN_ELSEWHERE.test(command.name) && (command.isLine || !isName(command))),
    ).filter((block) => block.length > 0),
    (block) => JSON.stringify(block.map(({ name: _name, ...command }) => command)),
  ).values(),
].map(([block = []]) => block);

describe('and they do what the documents say, on a stack with the sample', () => {
  let stack: OperatedStack;

  beforeAll(async () => {
    stack = await startOperatedStack();
    await seedSample(stack);
  });

  afterAll(async () => {
    await stack.close();
  });

  const nameOf = (block: DocumentedBlock) => block.map(({ name }) => name).join('\n');

  test.each(RUNNABLE.map((block) => [nameOf(block), block] as const))('%s', async (_name, block) => {
    const variables = new Map<string, string>();
    for (const command of block) {
      const valueOf = valuesFor(stack, command);
      const words = await withValues(
        command.words,
        async (name, written) => variables.get(written.slice(1)) ?? (await valueOf(name, written)),
      );
      // A line is run as it can be copied; code in a sentence may leave the confirmation to the reader.
      const asks = found(words)?.command.options.some(({ long }) => long === '--yes') === true;
      const printed = await stack
        .print(command.isLine || !asks ? words : [...words, '--yes'])
        .catch((error: unknown) => {
          throw new Error(`${command.name} (${words.join(' ')})`, { cause: error });
        });
      const { variable } = command;
      if (variable === undefined) continue;
      const answer = JSON.parse(printed) as Record<string, unknown>;
      expect(answer).toHaveProperty(variable.member);
      variables.set(variable.name, String(answer[variable.member]));
    }
  });
});

/** The accounts and plans of `npm start`. */
async function seedSample({ databaseUrl }: OperatedStack): Promise<void> {
  const person = (name: string) => ({
    email: `${name}@example.com`,
    name,
    password: randomUUID(),
    application: { name, client_id: randomUUID(), client_secret: randomUUID() },
  });
  await runProgram({
    name: 'seed',
    command: process.execPath,
    args: [programFile('services/account', 'programs/seed')],
    env: {
      DATABASE_URL: databaseUrl,
      CLIENT_SECRET_PEPPERS: clientSecretPeppers,
      TOKEN_SEALING_KEYS: tokenSealingKeys,
    },
    input: JSON.stringify({ manager: person('manager'), member: person('member') }),
    logFile: join(runDirectory(), `seed-${randomUUID()}.log`),
  });
}

/** Times of the documents as if they had been written this week: usage by the hour isn't kept for ever. */
function daysLater(written: string): string {
  const days = Math.floor((Date.now() - Date.parse('2026-07-02')) / DAY_MS);
  const later = new Date(Date.parse(written) + days * DAY_MS).toISOString();
  return written.includes('T') ? later : later.slice(0, 'YYYY-MM-DD'.length);
}

/** What one command needs, created when it is first asked for: `7` of a document stands for an account that there is. */
function valuesFor(
  { json, sql }: OperatedStack,
  { words }: DocumentedCommand,
): (name: string, written: string) => Promise<string> {
  const created = new Map<string, Promise<string>>();
  const create: Record<string, () => Promise<string>> = {
    account_id: async () => {
      const email = `${randomUUID()}@example.com`;
      const { account_id } = await json('accounts', 'create', '--email', email, '--name', 'Ada');
      if (words[1] === 'deletion') {
        await sql(`UPDATE accounts SET deletion_requested_at = now(), deletion_due_at = now() + interval '30 days'
          WHERE account_id = ${String(account_id)}`);
      }
      if (words[1] === 'postpone') {
        await sql(`INSERT INTO payment_blocks (account_id, reason, dispute_id, grace_at, blocks_at)
          VALUES (${String(account_id)}, 'dispute', '${randomUUID()}', now(), now())`);
      }
      return String(account_id);
    },
    plan_id: async () => {
      const { plan_id } = await json('plans', 'create', '--yes', '--name', randomUUID());
      return String(plan_id);
    },
    // Of an account of its own, since a command can name another one; bought, since only such points move.
    operator_id: async () => {
      // Support: the last admin stays.
      const wanted = ['--role', 'support', '--name', 'Ada', '--email', `${randomUUID()}@example.com`];
      const made = await json<{ operator: { operator_id: number } }>('operators', 'create', ...wanted);
      return String(made.operator.operator_id);
    },
    credit_id: async () => {
      const email = `${randomUUID()}@example.com`;
      const { account_id } = await json('accounts', 'create', '--email', email, '--name', 'Ada');
      const bought = ['--account', String(account_id), '--points', '5', '--source', 'purchase'];
      const { credit_id } = await json('credits', 'grant', ...bought);
      return String(credit_id);
    },
    issue_id: async () => {
      const [issue] = await sql<{ issue_id: number }>(
        `INSERT INTO payment_issues (kind, object_id) VALUES ('dispute', '${randomUUID()}') RETURNING issue_id`,
      );
      return String(issue?.issue_id);
    },
    application_id: async () => {
      const account = ['--account', await of('account_id')];
      const { application_id } = await json('applications', 'create', ...account, '--name', 'App');
      return String(application_id);
    },
    period_id: async () => {
      const [account, plan] = [await of('account_id'), await of('plan_id')];
      const days = [-1, 30].map((after) => new Date(Date.now() + after * DAY_MS).toISOString().slice(0, 10));
      const times = ['--start', String(days[0]), '--end', String(days[1])];
      const { period_id } = await json('periods', 'create', '--account', account, '--plan', plan, ...times);
      return String(period_id);
    },
    token_id: async () => {
      const application = ['--application', await of('application_id')];
      const { token_id } = await json('tokens', 'create', ...application, '--name', 'Token');
      return String(token_id);
    },
    request_id: async () => {
      const id = randomUUID().replaceAll('-', '');
      await sql(`INSERT INTO refused_calls (request_id, seq, at, kind, code, status, account_id, address, api_version,
          duration_ms, unrecorded_before)
        VALUES ('${id}', 1, now(), 'call', 'unauthorized', 401, ${await of('account_id')}, '203.0.113.9', 'v2', 3, 0)`);
      return id;
    },
    unassigned_id: async () => {
      const [account, plan] = [await of('account_id'), await of('plan_id')];
      await json('subscriptions', 'create', '--account', account, '--plan', plan);
      const ids = { payer_id: Number(account), account_id: Number(account), application_id: 1 };
      const usage = { api_version: 'v2', points: 11, requests: 1, time_ms: 0, traffic_bytes: 5 };
      const event = { ...ids, ...usage, period_id: 987_654_321, at_ms: Date.now() };
      const [row] = await sql<{ unassigned_id: string }>(
        `INSERT INTO usage_unassigned (stream, entry_id, event_index, reason, raw)
         VALUES ('{s1}:usage', '${randomUUID()}', 0, 'unknown_period', '${JSON.stringify(event)}') RETURNING unassigned_id`,
      );
      return String(row?.unassigned_id);
    },
  };
  function of(name: string): Promise<string> {
    const value =
      created.get(name) ?? create[name]?.() ?? Promise.reject(new Error(`nothing creates ${name}`));
    created.set(name, value);
    return value;
  }
  return async (name, written) => {
    if (name === 'time') return daysLater(written);
    return name in create ? await of(name) : written;
  };
}
