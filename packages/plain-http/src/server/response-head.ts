import { STATUS_CODES, validateHeaderName, validateHeaderValue } from 'node:http';
import { FIELD_NAME, FIELD_VALUE } from '../message/plain-fields.ts';
import { keepLast } from '../message/repeated-heads.ts';

export type ResponseFields = readonly string[] | Readonly<Record<string, string | number>>;

export type ResponseHead = {
  /** The status line and the fields, without those of the connection and the empty line. */
  text: string;
  hasLength: boolean;
  /** The fields' own Connection; undefined if there is none. */
  connection: string | undefined;
};

type Lines = ResponseHead & { hasDate: boolean };

/**
 * The status line and fields as node:http writes them, with a Date unless they have one. `fields` replace those of the
 * same name among the fields that were `set` before.
 */
export function responseHead(status: number, set: readonly string[], fields: ResponseFields): ResponseHead {
  const flat = isFlat(fields) ? fields : Object.entries(fields).flat();
  return headOf(status, NO_LINES, linesOf(set.length === 0 ? flat : [...without(set, flat), ...flat]));
}

const NO_LINES: Lines = { text: '', hasLength: false, connection: undefined, hasDate: false };

const sharedLines = keepLast(linesOf);

/** The same for fields of which the first are a list that many responses share. */
export function sharedResponseHead(
  status: number,
  shared: readonly string[],
  fields: readonly string[],
): ResponseHead {
  return headOf(status, sharedLines(shared), linesOf(fields));
}

function headOf(status: number, first: Lines, others: Lines): ResponseHead {
  const date = first.hasDate || others.hasDate ? '' : dateLine();
  return {
    text: `HTTP/1.1 ${String(status)} ${STATUS_CODES[status] ?? 'unknown'}\r\n${first.text}${others.text}${date}`,
    hasLength: first.hasLength || others.hasLength,
    connection: others.connection ?? first.connection,
  };
}

/** The fields whose names `others` lack. */
function without(fields: readonly string[], others: readonly (string | number)[]): string[] {
  const names = new Set(
    others.filter((_, index) => index % 2 === 0).map((name) => String(name).toLowerCase()),
  );
  return fields.filter((_, index) => !names.has((fields[index - (index % 2)] ?? '').toLowerCase()));
}

function isFlat(fields: ResponseFields): fields is readonly string[] {
  return Array.isArray(fields);
}

/** @throws {TypeError} for what would end a field */
function linesOf(flat: readonly (string | number)[]): Lines {
  const lines = { ...NO_LINES };
  for (let index = 0; index + 1 < flat.length; index += 2) {
    const name = String(flat[index]);
    const value = String(flat[index + 1]);
    // Node.js' own checks take longer, and throw.
    if (!FIELD_NAME.test(name)) validateHeaderName(name);
    if (!FIELD_VALUE.test(value)) validateHeaderValue(name, value);
    lines.text += `${name}: ${value}\r\n`;
    // The length rules out nearly all fields without making a string.
    if (name.length === 4) lines.hasDate ||= name.toLowerCase() === 'date';
    else if (name.length === 14) lines.hasLength ||= name.toLowerCase() === 'content-length';
    else if (name.length === 10 && name.toLowerCase() === 'connection') lines.connection = value;
  }
  return lines;
}

let dateSec = 0;
let dateText = '';

/** Made once a second (RFC 9110, section 6.6.1). */
function dateLine(): string {
  const nowMs = Date.now();
  const nowSec = Math.floor(nowMs / 1_000);
  if (nowSec !== dateSec) {
    dateSec = nowSec;
    dateText = `Date: ${new Date(nowMs).toUTCString()}\r\n`;
  }
  return dateText;
}
