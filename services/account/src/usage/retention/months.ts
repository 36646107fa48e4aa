/** Months of hourly rows, without SQL and without a clock. */

/** Usage can be looked at by the hour for any range of the last so many months. */
export const MIN_RETENTION_MONTHS = 14;

/** The first instant of the month that lies so many months before another's; negative ones lie after it. UTC. */
export function monthBefore(instant: Date, months: number): Date {
  return new Date(Date.UTC(instant.getUTCFullYear(), instant.getUTCMonth() - months, 1));
}
