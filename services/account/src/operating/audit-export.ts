import { once } from 'node:events';
import type { Response } from 'express';
import { cutAnswer } from '@tollgate/http/cut-answer';
import { csvCell, csvLine } from '../http/csv.ts';
import type { Query } from '../platform/database/query.ts';
import { findEntriesAfter } from './audit-entries.ts';
import type { AuditFilters, Extent, Logged } from './audit-entries.ts';

export const EXPORT_FORMATS = ['csv', 'ndjson'] as const;

type Format = (typeof EXPORT_FORMATS)[number];

const CONTENT_TYPES: Readonly<Record<Format, string>> = {
  csv: 'text/csv; charset=utf-8',
  ndjson: 'application/x-ndjson',
};

/** Bounds how much is in memory. */
const PAGE_ROWS = 1_000;

/** Bounds how long the snapshot keeps Postgres from removing old rows. */
const MAX_EXPORT_MS = 15 * 60_000;

/** A client that reads nothing for this time is gone. */
const STALL_MS = 30_000;

export type AuditExport = { filters: AuditFilters; format: Format; extent: Extent; seesAddresses: boolean };

/**
 * Writes the file while it is read, as fast as the client takes it. What fails on the way resets the connection, so that
 * half of a log isn't taken for all of it.
 * @param query of a snapshot
 */
export async function sendAuditExport(
  query: Query,
  { filters, format, extent, seesAddresses }: AuditExport,
  res: Response,
): Promise<void> {
  const { entries, first_audit_id: first, last_audit_id: last } = extent;
  const ids = first === null || last === null ? 'empty' : `${String(first)}-${String(last)}`;
  res
    .attachment(`audit-log-${ids}.${format}`)
    .type(CONTENT_TYPES[format])
    .set('X-Audit-Entries', String(entries));
  const gone = new AbortController();
  res.once('close', () => {
    gone.abort();
  });
  const ended = AbortSignal.any([gone.signal, AbortSignal.timeout(MAX_EXPORT_MS)]);
  try {
    for await (const lines of linesOf(query, filters, { format, seesAddresses })) {
      ended.throwIfAborted();
      if (res.write(lines)) continue;
      await once(res, 'drain', { signal: AbortSignal.any([ended, AbortSignal.timeout(STALL_MS)]) });
    }
    res.end();
  } catch (error) {
    // The client has gone, or doesn't read.
    if (!(error instanceof Error && (error instanceof DOMException || error.name === 'AbortError'))) {
      throw error;
    }
    cutAnswer(res);
  }
}

async function* linesOf(
  query: Query,
  filters: AuditFilters,
  { format, seesAddresses }: Pick<AuditExport, 'format' | 'seesAddresses'>,
): AsyncGenerator<string> {
  const line = format === 'csv' ? csvOf : jsonOf;
  if (format === 'csv') yield csvLine(COLUMNS);
  for (let after = 0; ;) {
    const rows = await findEntriesAfter(query, filters, { after, limit: PAGE_ROWS });
    const newest = rows.at(-1);
    if (newest === undefined) return;
    yield rows.map((row) => line(seesAddresses ? row : { ...row, address: null })).join('');
    after = newest.audit_id;
  }
}

function jsonOf(row: Logged): string {
  return `${JSON.stringify(row)}\n`;
}

const COLUMNS = [
  'audit_id',
  'at',
  'actor',
  'action',
  'account_id',
  'application_id',
  'address',
  'request_id',
  'details',
  'before',
  'after',
] as const;

function csvOf(row: Logged): string {
  return csvLine(COLUMNS.map((column) => csvCell(row[column])));
}
