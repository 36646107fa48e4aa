import type { Command } from 'commander';
import type { Answer } from '../api.ts';
import { addYes, newGroup } from '../commands.ts';
import { confirm } from '../confirm.ts';
import { EXIT, Failure } from '../failures.ts';
import { tableLines } from '../output.ts';
import type { Row } from '../output.ts';
import type { Open, Session } from '../session.ts';
import * as values from '../values.ts';

const COUNTERS = ['points', 'requests', 'time_ms', 'traffic_bytes'];

export function usageGroup(open: Open): Command {
  const group = newGroup('usage', 'proves that what is counted per period equals the hourly rows');
  addCheck(group, open);
  addRebuild(group, open);
  return group;
}

/** The checks' answers one after the other: of one period, or of all by pages. */
async function* checksOf({ api }: Session, periodId: number | undefined): AsyncGenerator<Answer> {
  let wanted: Record<string, unknown> | undefined = periodId === undefined ? {} : { period_id: periodId };
  while (wanted !== undefined) {
    const answer: Answer = await api.send('POST', '/private/usage-checks', wanted);
    yield answer;
    const cursor = answer.body['next_cursor'];
    wanted = typeof cursor === 'string' ? { cursor } : undefined;
  }
}

const differencesOf = ({ body }: Answer) => (body['differences'] ?? []) as (Row & { period_id: number })[];

function addCheck(group: Command, open: Open): void {
  group
    .command('check')
    .description('compares totals and hourly rows of all periods; ends with 1 where any differ')
    .option('--period <period_id>', 'of one period', values.id)
    .action(async ({ period }: { period?: number }) => {
      const session = open();
      const differences: Row[] = [];
      let checked = 0;
      for await (const answer of checksOf(session, period)) {
        checked += Number(answer.body['checked']);
        differences.push(...differencesOf(answer));
        if (session.json) await session.print([answer.text]);
      }
      if (!session.json) await session.print(checkLines(checked, differences));
      if (differences.length > 0) throw new Failure(EXIT.refused, differencesText(differences));
    });
}

function checkLines(checked: number, differences: readonly Row[]): string[] {
  if (differences.length === 0) return [`${String(checked)} checked: the totals equal the hourly rows.`];
  const columns = COUNTERS.flatMap((counter) => [`totals.${counter}`, `hourly.${counter}`]);
  return tableLines(['period_id', ...columns], differences);
}

const differencesText = ({ length }: readonly Row[]) =>
  `The totals of ${String(length)} period(s) differ from their hourly rows; tollgate usage rebuild mends them.`;

function addRebuild(group: Command, open: Open): void {
  const command = group
    .command('rebuild')
    .description(
      'sets the totals of periods to their hourly rows; of those that a check finds different, where none is named',
    )
    .argument('[period_id...]', 'which periods', collectIds);
  addYes(command).action(async (named: number[], options: { yes?: boolean }) => {
    const session = open();
    const periods = named.length > 0 ? named : await differentPeriods(session);
    if (periods.length === 0) {
      if (!session.json) await session.print(['Nothing to mend: the totals equal the hourly rows.']);
      return;
    }
    await confirm(`Set the totals of period ${periods.join(', ')} to the hourly rows?`, options);
    const rebuilt: Answer[] = [];
    for (const period_id of periods) {
      const answer = await session.api.send('POST', '/private/usage-rebuilds', { period_id });
      if (session.json) await session.print([answer.text]);
      rebuilt.push(answer);
    }
    const columns = COUNTERS.flatMap((counter) => [`totals_before.${counter}`, `totals.${counter}`]);
    const rows = rebuilt.map(({ body }) => body);
    if (!session.json) await session.print(tableLines(['period_id', 'changed', ...columns], rows));
  });
}

async function differentPeriods(session: Session): Promise<number[]> {
  const found: number[] = [];
  for await (const answer of checksOf(session, undefined)) {
    found.push(...differencesOf(answer).map(({ period_id }) => period_id));
  }
  return found;
}

function collectIds(text: string, before: number[] | undefined): number[] {
  return [...(before ?? []), values.id(text)];
}
