import { InvalidArgumentError } from 'commander';
import { z } from 'zod';

/** Readers of arguments and options. What they refuse is a usage fault that names the option. */

export function id(text: string): number {
  if (!/^[1-9]\d{0,14}$/.test(text))
    throw new InvalidArgumentError('It must be an ID: a whole number of at least 1.');
  return Number(text);
}

/** The id of a request, as errors and the header X-Request-Id show it. */
export function requestId(text: string): string {
  if (!/^[0-9a-f]{32}$/i.test(text)) throw new InvalidArgumentError('It must be 32 hexadecimal digits.');
  return text.toLowerCase();
}

export function wholeNumber(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError('It must be a whole number of at least 0.');
  return Number(text);
}

/** `none` is the API's null; commander takes a null for a value that is missing. */
export type OrNone = number | 'none';

/** A number, or `none`: no limit, or no add-on. */
export function wholeNumberOrNone(text: string): OrNone {
  return text === 'none' ? 'none' : wholeNumber(text);
}

/** Or `none`, as with numbers. */
export function onOffOrNone(text: string): boolean | 'none' {
  if (text === 'none') return 'none';
  if (text !== 'on' && text !== 'off') throw new InvalidArgumentError('It must be on, off or none.');
  return text === 'on';
}

/** An id, or `none`. */
export function idOrNone(text: string): OrNone {
  return text === 'none' ? 'none' : id(text);
}

/** As the API takes it; what isn't given isn't sent. */
export function nullable(given: OrNone | undefined): number | null | undefined {
  return given === 'none' ? null : given;
}

/** As a query has it. */
export function yesOrNo(text: string): 'true' | 'false' {
  if (text !== 'yes' && text !== 'no') throw new InvalidArgumentError('It must be yes or no.');
  return text === 'yes' ? 'true' : 'false';
}

/** The members that are given, of options or of what is made of them. */
export function given<Members extends object>(members: Members): Given<Members> {
  return Object.fromEntries(
    Object.entries(members).filter(([, value]) => value !== undefined),
  ) as Given<Members>;
}

type Given<Members> = {
  [Name in keyof Members as undefined extends Members[Name] ? never : Name]: Members[Name];
} & {
  [Name in keyof Members as undefined extends Members[Name] ? Name : never]?: Exclude<
    Members[Name],
    undefined
  >;
};

export function pageSize(text: string): number {
  const size = wholeNumber(text);
  if (size < 1 || size > 200) throw new InvalidArgumentError('It must be 1 to 200.');
  return size;
}

export function seconds(text: string): number {
  const value = Number(text);
  if (!/^\d{1,5}(\.\d{1,3})?$/.test(text) || value === 0) {
    throw new InvalidArgumentError('It must be a number of seconds.');
  }
  return value;
}

const date = z.iso.date();
const instant = z.iso.datetime({ offset: true });

/** An RFC 3339 time in any offset, or a date in UTC, as all lists take it; the API gets times in UTC. */
export function time(text: string): string {
  if (date.safeParse(text).success) return text;
  if (instant.safeParse(text).success) return new Date(text).toISOString().replace('.000Z', 'Z');
  throw new InvalidArgumentError(
    'It must be an RFC 3339 time or date, such as 2026-07-01T00:00:00Z or 2026-07-01.',
  );
}

/** In UTC. */
export function day(text: string): string {
  if (date.safeParse(text).success) return text;
  throw new InvalidArgumentError('It must be a date, such as 2026-07-01.');
}

/** The same where something begins: a date is its first second. */
export function firstSecond(text: string): string {
  return date.safeParse(text).success ? `${text}T00:00:00Z` : toSecond(time(text));
}

/** The same where something ends: a date is its last second. */
export function lastSecond(text: string): string {
  return date.safeParse(text).success ? `${text}T23:59:59Z` : toSecond(time(text));
}

function toSecond(instantText: string): string {
  if (/\.\d+Z$/.test(instantText)) throw new InvalidArgumentError('It must be a whole second.');
  return instantText;
}
