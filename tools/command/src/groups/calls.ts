import type { Command } from 'commander';
import { resultOf } from '../api/client.ts';
import { newGroup } from '../commands.ts';
import { recordLines } from '../output.ts';
import type { Open } from '../session.ts';
import * as values from '../values.ts';

export function callsGroup(open: Open): Command {
  const group = newGroup('calls', 'Find refused and failed data calls');
  group
    .command('find')
    .description('Show why a data call or WebSocket operation was refused or failed')
    .argument('<request_id>', 'request ID, from the error or X-Request-Id', values.requestId)
    .action(async (requestId: string) => {
      const session = open();
      const path = { request_id: requestId };
      const answer = await resultOf(session.api.GET('/private/calls/{request_id}', { params: { path } }));
      await session.show(answer, () =>
        answer.records.flatMap((record, index) => [...(index === 0 ? [] : ['']), ...recordLines(record)]),
      );
    });
  return group;
}
