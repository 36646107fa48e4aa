/** RFC 9110, section 10.2.3: seconds from now; null if malformed. */
export function retryAfterSec(value: string, now: Date): number | null {
  const text = value.trim();
  if (/^\d+$/.test(text)) return Number(text);
  const fixdate = asFixdate(text, now);
  const at = new Date(fixdate);
  // Date accepts many other formats, and turns 31 February into a day of March.
  if (Number.isNaN(at.getTime()) || at.toUTCString() !== fixdate) return null;
  return Math.max(0, (at.getTime() - now.getTime()) / 1_000);
}

const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'].join('|');
const RFC_850 = new RegExp(`^(${DAYS}), (\\d\\d)-(\\w{3})-(\\d\\d) (\\S+) GMT$`);
const ASCTIME = /^(\w{3}) (\w{3}) ([ \d]\d) (\S+) (\d{4})$/;

/** Recipients must accept the obsolete formats too (RFC 9110, section 5.6.7). */
function asFixdate(text: string, now: Date): string {
  const rfc850 = RFC_850.exec(text);
  if (rfc850 !== null) {
    const [, name = '', day = '', month = '', digits = '', time = ''] = rfc850;
    return `${name.slice(0, 3)}, ${day} ${month} ${yearOf(digits, now)} ${time} GMT`;
  }
  const asctime = ASCTIME.exec(text);
  if (asctime === null) return text;
  const [, name = '', month = '', day = '', time = '', year = ''] = asctime;
  return `${name}, ${day.replace(' ', '0')} ${month} ${year} ${time} GMT`;
}

/** A two-digit year more than 50 years ahead means the past (RFC 9110, section 5.6.7). */
function yearOf(digits: string, now: Date): string {
  const thisYear = now.getUTCFullYear();
  const year = thisYear - (thisYear % 100) + Number(digits);
  return String(year > thisYear + 50 ? year - 100 : year);
}
