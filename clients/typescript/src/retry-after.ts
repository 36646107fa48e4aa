/**
 * What `Retry-After` asks for, in milliseconds: seconds, or a date (RFC 9110, section 10.2.3), read against the
 * response's own `Date`, because the local clock may be wrong. Undefined if there is none that can be understood.
 */
export function retryAfterMs(headers: Headers): number | undefined {
  const value = headers.get('retry-after')?.trim() ?? '';
  if (/^\d+$/.test(value)) return Number(value) * 1_000;
  const waitMs = dateOf(value) - dateOf(headers.get('date')?.trim() ?? '');
  return Number.isNaN(waitMs) ? undefined : Math.max(waitMs, 0);
}

/** Every form begins with the name of a day. The one without a zone means GMT. */
function dateOf(value: string): number {
  if (!/^[A-Z][a-z]{2,8},? /.test(value)) return NaN;
  return Date.parse(value.endsWith('GMT') ? value : `${value} GMT`);
}
