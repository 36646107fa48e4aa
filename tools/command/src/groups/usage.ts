import type { Command } from 'commander';
import { resultOf } from '../api/client.ts';
import type { Api, Body, Query, Result } from '../api/client.ts';
import { addGet, addList, addYes, answersOf, newGroup, showRecord } from '../commands.ts';
import type { Filter } from '../commands.ts';
import { confirm } from '../confirm.ts';
import { EXIT, Failure } from '../failures.ts';
import { tableLines } from '../output.ts';
import type { Open, Session } from '../session.ts';
import * as values from '../values.ts';

const COUNTERS = ['points', 'requests', 'time_ms', 'traffic_bytes'] as const;

export function usageGroup(open: Open): Command {
  const group = newGroup('usage', 'Check usage counters, and list usage gaps and unassigned usage');
  addCheck(group, open);
  addRebuild(group, open);
  addRepair(group, open);
  addGaps(group, open);
  group.addCommand(unassignedGroup(open));
  return group;
}

const GAP_FILTERS: readonly Filter<Query<'listUsageGaps'>>[] = [
  { parameter: 'stream', flags: '--stream <stream>', description: 'filter by stream, such as {s7}:usage' },
  {
    parameter: 'cause',
    flags: '--cause <cause>',
    description: 'filter by cause: batches_missing, redis_set_back or postgres_set_back',
  },
];

function addGaps(group: Command, open: Open): void {
  addList(group, open, {
    name: 'gaps',
    description: 'List usage gaps, newest first. An unknown size is shown as -',
    page: (api: Api, query: Query<'listUsageGaps'>) =>
      resultOf(api.GET('/private/usage-gaps', { params: { query } })),
    itemsOf: ({ gaps }) => gaps,
    columns: [
      'gap_id',
      'seen_at',
      'cause',
      'stream',
      'gateway_id',
      'batches',
      'requests',
      'points',
      'recovered.requests',
      'recovered.points',
      'within_gap_id',
    ],
    filters: GAP_FILTERS,
  });
}

/** What could not be counted when it came. */
function unassignedGroup(open: Open): Command {
  const group = newGroup('unassigned', 'Manage unassigned usage: usage that could not be counted');
  addList(group, open, {
    description: 'List unassigned usage, newest first',
    page: (api: Api, query: Query<'listUnassignedUsage'>) =>
      resultOf(api.GET('/private/usage-unassigned', { params: { query } })),
    itemsOf: ({ unassigned }) => unassigned,
    columns: ['unassigned_id', 'recorded_at', 'reason', 'stream', 'counted_at', 'counted_period_id'],
    filters: [
      {
        parameter: 'reason',
        flags: '--reason <code>',
        description: 'filter by reason, such as implausible_time',
      },
      {
        parameter: 'counted',
        flags: '--counted <yes|no>',
        description: 'filter by whether the usage has been counted',
        parse: values.yesOrNo,
      },
    ],
  });
  addGet(group, open, {
    name: 'unassigned_id',
    get: (api, id) =>
      resultOf(
        api.GET('/private/usage-unassigned/{unassigned_id}', { params: { path: { unassigned_id: id } } }),
      ),
  });
  const command = group
    .command('count')
    .description(
      'Count unassigned usage once: in the given period, else the one the usage names, else the one that covers its time',
    )
    .argument('<unassigned_id>', 'ID', values.id)
    .option('--period <period_id>', 'billing period to count it in', values.id);
  addYes(command).action(async (id: number, { period, yes }: { period?: number; yes?: boolean }) => {
    const session = open();
    await confirm(`Count the usage that was set aside as ${String(id)}?`, { yes });
    const params = { path: { unassigned_id: id } };
    const body = values.given({ period_id: period });
    await showRecord(
      session,
      await resultOf(session.api.POST('/private/usage-unassigned/{unassigned_id}/count', { params, body })),
    );
  });
  return group;
}

type Check = Result<'checkUsage'>;
type Differences = Check['differences'];

function asking({ api }: Session) {
  return (body: Body<'checkUsage'>) => resultOf(api.POST('/private/usage-checks', { body }));
}

function addCheck(group: Command, open: Open): void {
  group
    .command('check')
    .description('Compare totals and hourly rows of all periods. Exits with 1 if any differ')
    .option('--period <period_id>', 'filter by billing period', values.id)
    .action(async ({ period }: { period?: number }) => {
      const session = open();
      const differences: Differences = [];
      const outOfRange: number[] = [];
      let [checked, gaps] = [0, 0];
      for await (const check of answersOf(asking(session), values.given({ period_id: period }))) {
        checked += check.checked;
        differences.push(...check.differences);
        outOfRange.push(...check.out_of_range);
        gaps = check.recent_gaps;
        if (session.json) await session.print([JSON.stringify(check)]);
      }
      if (!session.json) {
        await session.print([...checkLines(checked, differences), ...warningLines(outOfRange, gaps)]);
      }
      if (differences.length > 0) throw new Failure(EXIT.refused, differencesText(differences));
    });
}

function checkLines(checked: number, differences: Differences): string[] {
  if (differences.length === 0) return [`${String(checked)} checked: the totals equal the hourly rows.`];
  const columns = COUNTERS.flatMap((counter) => [`totals.${counter}`, `hourly.${counter}`] as const);
  return tableLines(['period_id', ...columns], differences);
}

/** What equal counters don't show. */
function warningLines(outOfRange: readonly number[], gaps: number): string[] {
  return [
    ...(outOfRange.length === 0
      ? []
      : [`Period ${outOfRange.join(', ')}: a counter is beyond 9007199254740991 and shown as that.`]),
    ...(gaps === 0 ? [] : [`${String(gaps)} gap(s) in the last 30 days: see tollgate usage gaps.`]),
  ];
}

const differencesText = ({ length }: Differences) =>
  `The totals of ${String(length)} period(s) differ from their hourly rows; run tollgate usage rebuild to correct them.`;

function addRebuild(group: Command, open: Open): void {
  const command = group
    .command('rebuild')
    .description(
      'Set the totals of periods to the sum of their hourly rows. Without a period, rebuild all that differ',
    )
    .argument('[period_id...]', 'billing periods to use', collectIds);
  addYes(command).action(async (named: number[], options: { yes?: boolean }) => {
    const session = open();
    const periods = named.length > 0 ? named : await differentPeriods(session);
    if (periods.length === 0) {
      if (!session.json) await session.print(['Nothing to rebuild: all totals equal their hourly rows.']);
      return;
    }
    await confirm(`Set the totals of period ${periods.join(', ')} to the hourly rows?`, options);
    const rebuilt: Result<'rebuildUsage'>[] = [];
    for (const period_id of periods) {
      const answer = await resultOf(session.api.POST('/private/usage-rebuilds', { body: { period_id } }));
      if (session.json) await session.print([JSON.stringify(answer)]);
      rebuilt.push(answer);
    }
    const columns = COUNTERS.flatMap((counter) => [`totals_before.${counter}`, `totals.${counter}`] as const);
    if (!session.json) await session.print(tableLines(['period_id', 'changed', ...columns], rebuilt));
  });
}

function addRepair(group: Command, open: Open): void {
  const command = group
    .command('repair')
    .description('Bring the counters in Postgres and Redis together after a restore. Safe to repeat')
    .option('--restored', 'Postgres was restored from a backup: skip IDs that were assigned after it');
  addYes(command).action(async ({ restored = false, yes }: { restored?: boolean; yes?: boolean }) => {
    const session = open();
    await confirm('Repair the usage counters?', { yes });
    await showRecord(
      session,
      await resultOf(session.api.POST('/private/usage-repairs', { body: { restored } })),
    );
  });
}

async function differentPeriods(session: Session): Promise<number[]> {
  const found: number[] = [];
  for await (const { differences } of answersOf(asking(session), {})) {
    found.push(...differences.map(({ period_id }) => period_id));
  }
  return found;
}

function collectIds(text: string, before: number[] | undefined): number[] {
  return [...(before ?? []), values.id(text)];
}
