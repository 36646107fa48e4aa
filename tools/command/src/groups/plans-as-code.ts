import type { Command } from 'commander';
import { resultOf } from '../api/client.ts';
import type { Result } from '../api/client.ts';
import { newGroup } from '../commands.ts';
import { confirm } from '../confirm.ts';
import { EXIT, Failure, usageFault } from '../failures.ts';
import { readText } from '../input.ts';
import type { Open, Session } from '../session.ts';
import * as values from '../values.ts';

/** What differs between a file and what is there. */
type Differences = Result<'diffPlans'>;
type Change = Differences['changes'][number];

type Options = {
  file: string;
  diff?: boolean;
  prune?: boolean;
  expectPrune?: number;
  allowUnlimited?: boolean;
  allowPriceChanges?: boolean;
  yes?: boolean;
};

export function applyCommand(open: Open): Command {
  return newGroup('apply', 'Apply a file of products, plans and packs. What it leaves out stays')
    .requiredOption('-f, --file <file>', 'YAML or JSON; - for standard input')
    .option('--diff', 'only show the differences; exits with 4 if there are any')
    .option(
      '--prune',
      'archive plans and withdraw packs that a file has made or named before, and this one doesn’t',
    )
    .option(
      '--expect-prune <number>',
      'with --prune and --yes: how many plans and packs that are',
      values.wholeNumber,
    )
    .option('--allow-unlimited', 'the file may remove a limit')
    .option('--allow-price-changes', 'the file may change a price')
    .option('--yes', 'apply without asking')
    .action(async (options: Options) => {
      const session = open();
      await applyFile(session, options);
    });
}

export function exportCommand(open: Open): Command {
  return newGroup('export', 'Print products, plans and packs as a file for apply').action(async () => {
    const session = open();
    const answer = await resultOf(session.api.GET('/private/plans-as-code'));
    await session.show(answer, () => [answer.source.trimEnd()]);
  });
}

async function applyFile(session: Session, options: Options): Promise<void> {
  const { prune = false, yes, expectPrune } = options;
  const body = { source: await readText(options.file), prune };
  const found = await resultOf(session.api.POST('/private/plans-as-code/diff', { body }));
  if (options.diff === true) {
    await session.show(found, () => lines(found));
    if (found.changes.length > 0) throw new Failure(EXIT.differences, 'The file differs from what is there.');
    return;
  }
  if (found.changes.length > 0) {
    if (!session.json) await session.print(lines(found));
    const count = String(found.changes.length);
    const typed = found.pruned > 0 && expectPrune === undefined ? String(found.pruned) : undefined;
    await confirm(`Apply ${count} change(s)${prunes(found)}?`, { yes, typed });
    if (yes === true && found.pruned > 0 && expectPrune === undefined) {
      throw usageFault(
        `--prune would take away ${String(found.pruned)}. Add --expect-prune ${String(found.pruned)}.`,
      );
    }
  }
  const allow = [
    ...(options.allowUnlimited === true ? (['unlimited'] as const) : []),
    ...(options.allowPriceChanges === true ? (['prices'] as const) : []),
  ];
  // What was shown is what is applied, or nothing.
  const { digest, pruned } = found;
  const wanted = { ...body, digest, allow, expect_pruned: pruned === 0 ? 0 : (expectPrune ?? pruned) };
  const applied = await resultOf(session.api.POST('/private/plans-as-code/apply', { body: wanted }));
  await session.show(applied, () => [
    applied.changes.length === 0
      ? 'Nothing to change.'
      : `Applied ${String(applied.changes.length)} change(s).`,
  ]);
}

function prunes({ pruned }: Differences): string {
  return pruned === 0 ? '' : `, of which ${String(pruned)} take away what the file doesn’t name`;
}

const SIGNS = { create: '+', change: '~', replace: '±', archive: '-', restore: '+' } as const;

function lines({ changes, needs }: Differences): string[] {
  if (changes.length === 0) return ['Nothing to change.'];
  const allowances = needs.map((need) => `Needs ${FLAGS[need]}.`);
  return [...changes.flatMap(changeLines), ...allowances];
}

const FLAGS = { unlimited: '--allow-unlimited', prices: '--allow-price-changes' } as const;

function changeLines({ kind, key, action, pruned, fields, affected }: Change): string[] {
  const head = `${SIGNS[action]} ${action} ${kind} ${key}${pruned ? ' (not in the file)' : ''}`;
  const changed = fields
    .filter(({ after, before }) => action !== 'create' || after !== null || before !== null)
    .map(({ field, before, after, needs }) => {
      const values = action === 'create' ? shown(after) : `${shown(before)} → ${shown(after)}`;
      return `    ${field}: ${values}${needs === null ? '' : `   (needs ${FLAGS[needs]})`}`;
    });
  const isWithdrawn = kind === 'pack' && (action === 'replace' || action === 'archive');
  const topUps = isWithdrawn ? ['    automatic top-ups that buy it pause until another pack is chosen'] : [];
  return [head, ...changed, ...topUps, ...affectedLines(affected)];
}

function affectedLines(affected: Change['affected']): string[] {
  if (affected === null) return [];
  const { subscriptions, current_periods, unstarted_periods, periods_over_limit } = affected;
  const whom = [
    `${String(subscriptions)} subscription(s) get this with their next period`,
    `${String(current_periods)} current period(s) stay as they are`,
    ...(unstarted_periods > 0 ? [`${String(unstarted_periods)} period(s) opened ahead change`] : []),
    ...(periods_over_limit > 0 ? [`${String(periods_over_limit)} have used more than a lowered limit`] : []),
    ...(affected.is_sign_up_plan ? ['it is the plan for sign-ups'] : []),
    ...(affected.is_in_catalogue ? ['it is in the catalogue'] : []),
  ];
  return [`    ${whom.join('; ')}`];
}

function shown(value: unknown): string {
  return value === null ? 'none' : JSON.stringify(value);
}
