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

/**
 * The parts of docs/customers/errors.md. A code of an answer is a heading, so that each has an address that the web
 * interface can link to.
 */
export function customersErrors(): Record<string, string> {
  const { oauth, 'close-codes': closeCodes } = errorTables();
  const { operators: _ofOperators, ...chapters } = ERROR_CHAPTERS;
  return {
    ...Object.fromEntries(
      Object.entries(chapters).map(([name, codes]) => [name, problemSections(codes)] as const),
    ),
    oauth: oauth ?? '',
    'close-codes': closeCodes ?? '',
  };
}

/** Operators' matters, and so of no interest to customers. */
const OPERATORS_CODES = new Set(['insufficient_role']);
const SETTINGS = / \(`[A-Z_]+`(?:, `[A-Z_]+`)*\)/g;

function problemSections(codes: Readonly<Record<string, Explained & { status: number }>>): string {
  return Object.entries(codes)
    .filter(([code]) => !OPERATORS_CODES.has(code))
    .map(([code, { status, meaning, fix }]) =>
      [
        `### \`${code}\``,
        `**${String(status)}.** ${meaning.replaceAll(SETTINGS, '')}`,
        ...(fix === undefined ? [] : [`**What to do:** ${fix}`]),
      ].join('\n\n'),
    )
    .join('\n\n');
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
