import type { Response } from 'express';
import { z } from 'zod';
import { cutAnswer } from '@tollgate/http/cut-answer';
import { operation } from '@tollgate/operation';
import type { Chapter } from '@tollgate/operation';
import { recordAudit } from '../../platform/audit/audit-log.ts';
import type { Transact } from '../../platform/database/query.ts';
import { refuseExceeded } from '../../identity/attempts/attempt-counts.ts';
import type { AttemptCounts } from '../../identity/attempts/attempt-counts.ts';
import { session } from '../../identity/sessions/require-session.ts';
import { requireConfirmed } from '../../identity/two-factor/confirmation.ts';
import { exportEntries } from './contents.ts';
import { EXPORT_LIMITS } from './running-exports.ts';
import type { RunningExports } from './running-exports.ts';
import { sendZip } from './send-zip.ts';
import { openSource } from './source.ts';
import type { SessionLifetimes } from '../../identity/sessions/session-store.ts';

type ExportNeeds = {
  transact: Transact;
  counts: AttemptCounts;
  lifetimes: SessionLifetimes;
  /** Of the pool for exports. */
  snapshot: Transact;
  runningExports: RunningExports;
  productName: string;
};

const HOUR_SEC = 3_600;

/** Bounds how long the snapshot keeps Postgres from removing old rows. */
const MAX_EXPORT_MS = 15 * 60_000;

export const ownerExport = {
  title: 'Data export',
  description: 'A copy of the data of your account.',
  operations: [
    operation('POST /api/console/account/export', {
      operationId: 'exportAccount',
      summary: 'Export the data of your account',
      description:
        'Returns a zip with a README and, as JSON and CSV, your account, sessions, applications, tokens, team, ' +
        'subscriptions, billing periods, hourly usage, refused calls, alerts, webhooks with their deliveries, and ' +
        'activity. Passwords, secrets and tokens are not included. All files show the same moment. If something ' +
        'fails on the way, the connection is reset, so check that the download is complete. Needs a session that was ' +
        'signed in or confirmed within 15 minutes, else returns `confirmation_required`. One export of an account ' +
        'runs at a time, and ten in an hour.',
      caller: session,
      guard: requireConfirmed,
      answers: {
        200: {
          description: 'The zip.',
          schema: z.string().meta({ override: { type: 'string', contentMediaType: 'application/zip' } }),
          contentTypes: ['application/zip'],
        },
      },
      problems: ['confirmation_required', 'too_many_requests'],
      // docs/design/identity.md.
      respond: async (needs: ExportNeeds, { by: { account_id, actor }, res }) => {
        const subject = `export ${String(account_id)}`;
        await needs.runningExports.run(subject, async () => {
          // Only here, so that a request beside a running export isn't counted.
          refuseExceeded(
            await needs.counts.take([{ subject, max: EXPORT_LIMITS.perHour, windowSec: HOUR_SEC }]),
          );
          const entry = { ...actor, application_id: null, account_id, details: {} };
          await needs.transact((query) => recordAudit(query, { ...entry, action: 'account_exported' }));
          await sendExport(needs, account_id, res);
        });
      },
    }),
  ],
} satisfies Chapter;

async function sendExport(needs: ExportNeeds, accountId: number, res: Response): Promise<void> {
  const gone = new AbortController();
  res.once('close', () => {
    gone.abort();
  });
  const ended = AbortSignal.any([gone.signal, AbortSignal.timeout(MAX_EXPORT_MS)]);
  try {
    await needs.snapshot(async (query) => {
      const source = await openSource(query, accountId, needs.lifetimes);
      // From here on a failure resets the connection.
      res.attachment(fileName(source)).type('application/zip');
      await sendZip(res, exportEntries(source, needs), ended);
    });
    res.end();
  } catch (error) {
    if (!isClientsFault(error)) throw error;
    cutAnswer(res);
  }
}

function fileName({ account_id, now }: { account_id: number; now: Date }): string {
  return `account-${String(account_id)}-${now.toISOString().slice(0, 10)}.zip`;
}

/** It has gone, or doesn't read. */
function isClientsFault(error: unknown): boolean {
  return error instanceof DOMException || (error instanceof Error && error.name === 'AbortError');
}
