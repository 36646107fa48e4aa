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

/** Days are UTC, as billing periods and charts are; what shows them says so (docs/design/console.md). */
export function utcFormat(options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  return new Intl.DateTimeFormat(LOCALE, { ...options, timeZone: 'UTC' });
}

export type Zone = 'utc' | 'local';

const ZONE_KEY = 'tollgate-zone';

const ZONE_CHANGED = 'tollgate-zone-changed';

/** Where the reader is, as "Asia/Tokyo". */
export const LOCAL_ZONE = new Intl.DateTimeFormat(LOCALE).resolvedOptions().timeZone;

let zone: Zone = 'utc';

export const currentZone = (): Zone => zone;

/** Applies the zone of times that was chosen in this browser, if any; else they are UTC. */
export function applyStoredZone(): void {
  if (localStorage.getItem(ZONE_KEY) === 'local') zone = 'local';
}

/** Shows times in the other zone, and keeps it in this browser. */
export function chooseZone(chosen: Zone): void {
  zone = chosen;
  localStorage.setItem(ZONE_KEY, chosen);
  dispatchEvent(new Event(ZONE_CHANGED));
}

export function onZoneChange(listener: () => void): () => void {
  addEventListener(ZONE_CHANGED, listener);
  return () => {
    removeEventListener(ZONE_CHANGED, listener);
  };
}

/** For headings of times: "UTC", or where the reader is. */
export function zoneName(): string {
  return zone === 'utc' ? 'UTC' : LOCAL_ZONE;
}

export type TimeFormat = { format: (at: Date) => string; formatRange: (first: Date, last: Date) => string };

/** Times in the chosen zone, without its name. */
export function zonedFormat(options: Intl.DateTimeFormatOptions): TimeFormat {
  const formats = { utc: utcFormat(options), local: new Intl.DateTimeFormat(LOCALE, options) };
  return {
    format: (at) => formats[zone].format(at),
    formatRange: (first, last) => formats[zone].formatRange(first, last),
  };
}

const OFFSET = new Intl.DateTimeFormat(LOCALE, { timeZoneName: 'shortOffset' });

/** What a time in the chosen zone ends with: "UTC", or "UTC+9". Summer time changes it. */
export function zoneOf(at: Date): string {
  if (zone === 'utc') return 'UTC';
  const name = OFFSET.formatToParts(at).find(({ type }) => type === 'timeZoneName')?.value ?? '';
  return name.replace('GMT', 'UTC');
}

const LOCAL = new Intl.DateTimeFormat(LOCALE, { dateStyle: 'medium', timeStyle: 'short' });

/** For titles, beside UTC: the time where the reader is. */
export function formatLocal(at: Date): string {
  return `${LOCAL.format(at)} your time`;
}
