/** Figures for the reader of a run. */
export function report(what: string, seen: object): void {
  process.stdout.write(`${what}: ${JSON.stringify(seen)}\n`);
}
