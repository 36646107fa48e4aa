import type { PostgresServer } from '../database/postgres-server.ts';
import type { Query } from '../database/query.ts';
import { DUE_WORK_CHANNEL, startDueWatch } from './due-watch.ts';
import { startNotices } from './notices.ts';
import type { Background } from './worker.ts';

/** `query` has a pool of its own. `channels`: further ones that workers listen to. */
export function startBackground(options: {
  server: PostgresServer;
  query: Query;
  channels: readonly string[];
}): Background & { close: () => Promise<void> } {
  const { server, query, channels } = options;
  const notices = startNotices({
    server,
    channels: [DUE_WORK_CHANNEL, ...channels],
    notify: () => query(`NOTIFY ${DUE_WORK_CHANNEL}`),
  });
  const dueWatch = startDueWatch(query, notices);
  return {
    dueWatch,
    notices,
    close: async () => {
      await Promise.all([dueWatch.close(), notices.close()]);
    },
  };
}
