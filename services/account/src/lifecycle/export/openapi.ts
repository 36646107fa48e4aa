import { z } from 'zod';
import type { ApiChapter } from '../../http/operation.ts';

export const exportApi: ApiChapter = {
  title: 'Data export',
  description: 'A copy of the data of your account.',
  operations: {
    'POST /api/console/account/export': {
      operationId: 'exportAccount',
      summary: 'Export the data of your account',
      description:
        'Returns a zip with a README and, as JSON and CSV, your account, sessions, applications, tokens, team, ' +
        'subscriptions, billing periods, hourly usage, refused calls, alerts, webhooks with their deliveries, and ' +
        'activity. Passwords, secrets and tokens are not included. All files show the same moment. If something ' +
        'fails on the way, the connection is reset, so check that the download is complete. Needs a session that was ' +
        'signed in or confirmed within 15 minutes, else returns `confirmation_required`. One export of an account ' +
        'runs at a time, and ten in an hour.',
      caller: 'session',
      answers: {
        200: {
          description: 'The zip.',
          schema: z.string().meta({ override: { type: 'string', contentMediaType: 'application/zip' } }),
          contentTypes: ['application/zip'],
        },
      },
      problems: ['confirmation_required', 'too_many_requests'],
    },
  },
};
