/** Usage by the hour is available for any range of this many months. */
export const MIN_RETENTION_MONTHS = 14;

/** The start of the month this many months before, or after if negative. UTC. */
export function monthBefore(instant: Date, months: number): Date {
  return new Date(Date.UTC(instant.getUTCFullYear(), instant.getUTCMonth() - months, 1));
}
