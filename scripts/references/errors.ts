import { RECORD_CODES } from '../../packages/contracts/src/call-codes.ts';
import { ERROR_CHAPTERS } from '../../packages/contracts/src/error-codes.ts';
import { OAUTH_ERRORS } from '../../packages/contracts/src/oauth.ts';
import { REFUSALS } from '../../services/account/src/counting/reports/rules.ts';
import { explainedCloses } from '../../services/gateway/src/websocket/protocol/close-codes.ts';
import { table } from './markdown.ts';

type Explained = { meaning: string; fix?: string };

/** The tables of docs/errors.md. */
export function errorTables(): Record<string, string> {
  return {
    ...Object.fromEntries(
      Object.entries(ERROR_CHAPTERS).map(([name, codes]) => [name, problemTable(codes)] as const),
    ),
    records: table(['code in a record', 'meaning', 'what to do'], explainedRows(RECORD_CODES)),
    'usage-reports': table(['code', 'meaning', 'what to do'], explainedRows(REFUSALS)),
    'close-codes': table(
      ['close code', 'reason begins with', 'when', 'what to do'],
      explainedCloses().map(({ closeCode, reason, meaning, fix }) => [
        String(closeCode),
        reason === '' ? 'none' : `\`${reason}\``,
        meaning,
        fix,
      ]),
    ),
    oauth: table(
      ['error', 'status', 'meaning'],
      Object.entries(OAUTH_ERRORS).flatMap(([code, answers]) =>
        answers.map(({ status, meaning }) => [`\`${code}\``, status, meaning]),
      ),
    ),
  };
}

function problemTable(codes: Readonly<Record<string, Explained & { status: number }>>): string {
  const hasFixes = Object.values(codes).some(({ fix }) => fix !== undefined);
  return table(
    ['code', 'status', 'meaning', ...(hasFixes ? ['what to do'] : [])],
    Object.entries(codes).map(([code, { status, meaning, fix }]) => [
      `\`${code}\``,
      String(status),
      meaning,
      ...(fix === undefined ? [] : [fix]),
    ]),
  );
}

function explainedRows(codes: Readonly<Record<string, Explained>>): string[][] {
  return Object.entries(codes).map(([code, { meaning, fix = '' }]) => [`\`${code}\``, meaning, fix]);
}
