import { isDeepStrictEqual } from 'node:util';
import { expect } from '@jest/globals';
import type { ServiceProcess } from '@tollgate/testbed/service-process';
import { operatePath } from './operator.ts';
import type { Answer } from './operator.ts';

/** Compares what entries of the audit log say of a change with what operators read before and after it. */

type Fields = Readonly<Record<string, unknown>>;

export type Change = { before: Fields | null; after: Fields | null };

type Sent = { path: string; body?: unknown };

/** An operation that returns the changed thing, by itself or in a list. */
type Source = { path: string; list?: string; where?: Fields };

/** Where the path of the change doesn't lead to the thing. */
const ELSEWHERE: readonly [RegExp, (ids: readonly string[], sent: Sent) => Source | undefined][] = [
  [/^\/private\/accounts\/\d+\/mails\/\d+\/send-again$/, () => undefined],
  [/^\/private\/packs\/(\d+)\//, ([id]) => listed('/private/packs', 'packs', { pack_id: Number(id) })],
  [
    /^\/private\/plans\/(\d+)\/prices\/(\w+)$/,
    ([id, billing_interval]) =>
      listed('/private/plan-prices', 'plan_prices', { plan_id: Number(id), billing_interval }),
  ],
  [
    /^\/private\/plans\/(\d+)\/team-slot-prices\/(\w+)$/,
    ([id, billing_interval]) =>
      listed('/private/team-slot-prices', 'team_slot_prices', { plan_id: Number(id), billing_interval }),
  ],
  [
    /^\/private\/payments\/issues\/(\d+)\//,
    ([id]) => listed('/private/payments/issues?state=all', 'issues', { issue_id: Number(id) }),
  ],
  [
    /^\/private\/operators\/(\d+)$/,
    ([id]) => listed('/private/operators', 'operators', { operator_id: Number(id) }),
  ],
  [
    /^\/private\/accounts\/(\d+)\/sessions\/(\d+)$/,
    ([id, session]) =>
      listed(`/private/accounts/${String(id)}/sessions`, 'sessions', { session_id: Number(session) }),
  ],
  [/^\/private\/accounts\/(\d+)\/deletion\//, ([id]) => ({ path: `/private/accounts/${String(id)}` })],
  [
    /^\/private\/accounts\/(\d+)\/webhooks\/\d+\/deliveries\/(\d+)\//,
    ([id, delivery]) =>
      listed(`/private/accounts/${String(id)}/webhook-deliveries`, 'deliveries', {
        delivery_id: Number(delivery),
      }),
  ],
  [
    /^(\/private\/applications\/\d+\/tokens)\/(\d+)\//,
    ([tokens, id]) => listed(String(tokens), 'tokens', { token_id: Number(id) }),
  ],
  [
    /^\/private\/teams\/(\d+)\/members$/,
    ([id], { body }) => listed(`/private/teams/${String(id)}`, 'members', body as Fields),
  ],
  [
    /^\/private\/teams\/(\d+)\/members\/(\d+)$/,
    ([id, member]) => listed(`/private/teams/${String(id)}`, 'members', { account_id: Number(member) }),
  ],
  [
    /^\/private\/usage-rebuilds$/,
    (_, { body }) => ({ path: `/private/periods/${String((body as Fields)['period_id'])}` }),
  ],
];

function listed(path: string, list: string, where: Fields): Source {
  return { path, list, where };
}

/**
 * Of a path and its beginnings, the longest that is read, such as that of a plan for one that ends in `/archive`.
 * Undefined for what is created: the answer has it.
 */
export function sourceOf(sent: Sent, readPaths: readonly string[]): Source | undefined {
  for (const [pattern, source] of ELSEWHERE) {
    const [matched, ...ids] = pattern.exec(sent.path) ?? [];
    if (matched !== undefined) return source(ids, sent);
  }
  const patterns = readPaths
    .filter((path) => path.includes('{'))
    .map((path) => new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`));
  const parts = sent.path.split('/');
  const beginnings = parts.map((_, index) => parts.slice(0, parts.length - index).join('/'));
  const path = beginnings.find((beginning) => patterns.some((pattern) => pattern.test(beginning)));
  return path === undefined ? undefined : { path };
}

/** Undefined if it isn't there. */
export async function readSource(
  account: Pick<ServiceProcess, 'privateUrl'>,
  { path, list, where = {} }: Source,
): Promise<Fields | undefined> {
  const { status, body } = await operatePath(account, 'GET', path);
  if (status === 404) return undefined;
  expect(status).toBe(200);
  if (list === undefined) return body;
  const rows = body[list] as Fields[];
  return rows.find((row) => Object.entries(where).every(([name, value]) => row[name] === value));
}

/** What follows from other fields, or changes by itself meanwhile. */
const DERIVED = new Set([
  'status',
  'usage',
  'credits',
  'active_manual_tokens',
  'members',
  'members_count',
  'last_seen_at',
  'last_used_at',
  'renews_at',
  'points_remaining',
  'consequences',
]);

type Seen = {
  changes: readonly Change[];
  /** What was read before, and afterwards; undefined if it wasn't there. */
  read: { before: Fields | undefined; after: Fields | undefined } | undefined;
  answer: Answer;
};

/** Every field that entries state is as it was read, and what was read has no other difference. */
export function expectTrue({ changes, read, answer }: Seen): void {
  const created = isFields(answer.body['operator']) ? answer.body['operator'] : answer.body;
  const { before, after } = read ?? { before: undefined, after: created };
  const compared = changes.flatMap((change) => [
    ...compare(change.before, before),
    ...compare(change.after, after),
  ]);
  expect(compared).not.toEqual([]);
  if (after !== undefined && before === undefined) expect(changes[0]?.before).toBeNull();
  if (read === undefined || before === undefined) return;
  if (after === undefined) {
    expect(changes[0]?.after).toBeNull();
    return;
  }
  const differing = Object.keys(after).filter(
    (name) => !DERIVED.has(name) && !isDeepStrictEqual(before[name], after[name]),
  );
  const stated = changes.flatMap((change) => Object.keys(change.after ?? change.before ?? {}));
  expect(stated).toEqual(expect.arrayContaining(differing));
}

/** The names that both have. */
function compare(stated: Fields | null, read: Fields | undefined): string[] {
  if (stated === null || read === undefined) return [];
  const names = Object.keys(stated).filter((name) => name in read && name !== 'renews_at');
  for (const name of names) {
    const value = stated[name];
    // Lists are read with more fields.
    if (Array.isArray(value)) expect({ [name]: read[name] }).toMatchObject({ [name]: value });
    else expect({ [name]: value }).toEqual({ [name]: read[name] });
  }
  return names;
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Of what an answer hands out, nothing is in an entry; nor is a field that holds a secret. */
export function expectNoSecret(changes: readonly Change[], { body }: Answer): void {
  const text = JSON.stringify(changes);
  for (const name of ['access_token', 'client_secret', 'secret', 'url']) {
    const secret = body[name];
    if (typeof secret === 'string') expect(text).not.toContain(secret);
  }
  expect(text).not.toMatch(
    /"[^"]*(?:password|hash|hmac|sealed|nonce)[^"]*":|tollgate_|tg[a-z]*_[A-Za-z\d]{8}/,
  );
}
