/** ISO 8601 to the second: `2026-07-23T23:59:59Z`. */
export function isoSeconds(instant: Date): string {
  return `${instant.toISOString().slice(0, 19)}Z`;
}
