import type { Command } from 'commander';
import { showRecord } from './commands.ts';
import type { Open } from './session.ts';
import * as values from './values.ts';

/** `team-slots <id> <number>`, of periods and of subscriptions. */
export function addTeamSlots(
  group: Command,
  open: Open,
  { path, id: idName, description }: { path: string; id: string; description: string },
): void {
  group
    .command('team-slots')
    .description(description)
    .argument(`<${idName}>`, 'ID', values.id)
    .argument(
      '<number>',
      'team size including the manager, or none for the plan’s limit',
      values.wholeNumberOrNone,
    )
    .action(async (id: number, slots: values.OrNone) => {
      const session = open();
      const wanted = { team_slots_limit: values.nullable(slots) };
      await showRecord(session, await session.api.send('POST', `${path}/${String(id)}/team-slots`, wanted));
    });
}
