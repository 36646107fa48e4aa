/**
 * Makes a script read the time from its arguments, from `firstArgument` on. `others` are further replacements.
 * @throws {Error} if the script lacks a part
 */
export function underTurnedClock(
  lua: string,
  firstArgument: number,
  others: Readonly<Record<string, string>>,
): string {
  const time = `{ ARGV[${String(firstArgument)}], ARGV[${String(firstArgument + 1)}] }`;
  return Object.entries({ "redis.call('TIME')": time, ...others }).reduce((script, [part, other]) => {
    if (!script.includes(part)) throw new Error(`the script has no part: ${part}`);
    return script.replaceAll(part, other);
  }, lua);
}

export function turnedTo(atUs: number): [seconds: number, microseconds: number] {
  return [Math.floor(atUs / 1_000_000), atUs % 1_000_000];
}
