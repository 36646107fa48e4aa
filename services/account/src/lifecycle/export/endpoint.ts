import type { RequestHandler, Response } from 'express';
import { cutAnswer } from '@tollgate/http/cut-answer';
import { recordAudit } from '../../platform/audit/audit-log.ts';
import type { Transact } from '../../platform/database/query.ts';
import { refuseExceeded } from '../../identity/attempts/attempt-counts.ts';
import type { PeopleParts } from '../../identity/people/people.ts';
import { signedIn } from '../../identity/sessions/require-session.ts';
import { exportEntries } from './contents.ts';
import { EXPORT_LIMITS } from './running-exports.ts';
import type { RunningExports } from './running-exports.ts';
import { sendZip } from './send-zip.ts';
import { openSource } from './source.ts';

export type ExportParts = Pick<PeopleParts, 'transact' | 'counts' | 'lifetimes'> & {
  /** Of the pool for exports. */
  snapshot: Transact;
  runningExports: RunningExports;
  productName: string;
};

const HOUR_SEC = 3_600;

/** Bounds how long the snapshot keeps Postgres from removing old rows. */
const MAX_EXPORT_MS = 15 * 60_000;

/**
 * `POST /api/console/account/export`, without a body: 200, a zip of the account's data (ADR 0061). The connection is
 * reset if something fails on the way. Needs a confirmed session. 403 `confirmation_required`; 429; 503.
 */
export function exportEndpoint(parts: ExportParts): RequestHandler {
  return async (_req, res) => {
    const { account_id, actor } = signedIn(res);
    const subject = `export ${String(account_id)}`;
    refuseExceeded(await parts.counts.take([{ subject, max: EXPORT_LIMITS.perHour, windowSec: HOUR_SEC }]));
    await parts.runningExports.run(account_id, async () => {
      await parts.transact((query) =>
        recordAudit(query, {
          ...actor,
          application_id: null,
          account_id,
          details: {},
          action: 'account_exported',
        }),
      );
      await sendExport(parts, account_id, res);
    });
  };
}

async function sendExport(parts: ExportParts, accountId: number, res: Response): Promise<void> {
  const gone = new AbortController();
  res.once('close', () => {
    gone.abort();
  });
  const ended = AbortSignal.any([gone.signal, AbortSignal.timeout(MAX_EXPORT_MS)]);
  try {
    await parts.snapshot(async (query) => {
      const source = await openSource(query, accountId, parts.lifetimes);
      // From here on a failure resets the connection.
      res.attachment(fileName(source)).type('application/zip');
      await sendZip(res, exportEntries(source, parts), ended);
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
