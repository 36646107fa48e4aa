/** `3.2 s`. Clocks that differ a little give no negative age. */
export function ageText(sec: number): string {
  return `${Math.max(0, sec).toFixed(sec < 10 ? 1 : 0)} s`;
}

/** Of usage that is in Redis, but not counted yet; its age is 0 if there is none. */
export function uncountedUsage(oldestAgeSec: number): string {
  return oldestAgeSec > 0 ? `The oldest is ${ageText(oldestAgeSec)} old` : 'None';
}
