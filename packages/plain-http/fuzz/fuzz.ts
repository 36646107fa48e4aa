import { parseArgs } from 'node:util';
import { openClientRounds } from './client-rounds.ts';
import { fuzz } from './fuzz-rounds.ts';
import { openServerRounds } from './server-rounds.ts';

/** `npx node packages/plain-http/fuzz/fuzz.ts --seconds 600 --seed 7`: half of the time for each side. See README.md. */
const { values } = parseArgs({ options: { seconds: { type: 'string' }, seed: { type: 'string' } } });
const seconds = Number(values.seconds ?? 60);
const seed = Number(values.seed ?? Math.floor(Math.random() * 4_294_967_296));
print(`seed ${String(seed)}`);
for (const open of [openServerRounds, openClientRounds]) {
  const rounds = await open();
  const { count, difference } = await fuzz(rounds, { seed, maxMs: seconds * 500, maxRounds: Infinity });
  print(`${rounds.name}: ${String(count)} rounds, ${String(rounds.plain())} plain messages`);
  rounds.close();
  if (difference === null) continue;
  print(`a difference in round ${String(count)}:\n${JSON.stringify(difference, null, 2)}`);
  process.exitCode = 1;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
