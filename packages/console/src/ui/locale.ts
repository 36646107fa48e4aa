/** Readers of other languages write the day before the month, as Britain does, and the day has 24 hours. */
const FALLBACK = 'en-GB';

/**
 * The pages are in English, so what is formatted is English too, in the variant that the reader prefers. Calendar and
 * digits are fixed: a browser in Bangkok or Tehran would put its own into an English sentence (docs/design/console.md).
 */
export function localeOf(languages: readonly string[]): string {
  const english = languages.find((tag) => /^en(?:-|$)/i.test(tag)) ?? FALLBACK;
  const fixed = { calendar: 'gregory', numberingSystem: 'latn', hourCycle: 'h23' } as const;
  return new Intl.Locale(english, fixed).toString();
}

export const LOCALE = localeOf(navigator.languages);

/** Dates and times are UTC, as billing periods and charts are; what shows them says so (docs/design/console.md). */
export function utcFormat(options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  return new Intl.DateTimeFormat(LOCALE, { ...options, timeZone: 'UTC' });
}

const LOCAL = new Intl.DateTimeFormat(LOCALE, { dateStyle: 'medium', timeStyle: 'short' });

/** For titles, beside UTC: the time where the reader is. */
export function formatLocal(at: Date): string {
  return `${LOCAL.format(at)} your time`;
}
