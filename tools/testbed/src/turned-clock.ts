/**
 * A Redis script under a clock that the suite turns: where it asks Redis for the time, it reads its arguments from
 * number `firstArgument` on (see turnedTo). `others` are parts that have to be other ones then.
 *
 * @throws {Error} where the script has no such part.
 */
export function underTurnedClock(
  lua: string,
  firstArgument: number,
  others: Readonly<Record<string, string>>,
): string {
  const time = `{ ARGV[${String(firstArgument)}], ARGV[${String(firstArgument + 1)}] }`;
  return Object.entries({ "redis.call('TIME')": time, ...others }).reduce((script, [part, other]) => {
    if (!script.includes(part)) throw new Error(`the script has no part: ${part}`);
    return script.replace(part, other);
  }, lua);
}

/** A moment as the arguments of such a script, which are as what Redis answers to TIME. */
export function turnedTo(atUs: number): [seconds: number, microseconds: number] {
  return [Math.floor(atUs / 1_000_000), atUs % 1_000_000];
}
