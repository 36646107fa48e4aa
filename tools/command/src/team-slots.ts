import type { Command } from 'commander';
import type { Api, Body } from './api/client.ts';
import { showRecord } from './commands.ts';
import type { Row } from './output.ts';
import type { Open } from './session.ts';
import * as values from './values.ts';

type TeamSlots = Body<'setPeriodTeamSlots' | 'setSubscriptionTeamSlots'>;

/** `team-slots <id> <number>`, of periods and of subscriptions. */
export function addTeamSlots(
  group: Command,
  open: Open,
  {
    id: idName,
    description,
    set,
  }: { id: string; description: string; set: (api: Api, id: number, body: TeamSlots) => Promise<Row> },
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
      const wanted = { team_slots_limit: slots === 'none' ? null : slots };
      await showRecord(session, await set(session.api, id, wanted));
    });
}
