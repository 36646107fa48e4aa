import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { stopSignal } from '../../scripts/launcher/stop-signal.ts';
import { placesOf } from './cores.ts';
import type { PartResult } from './part.ts';
import { PARTS } from './parts.ts';
import { goalText, writeResults } from './report/results.ts';
import { runFacts } from './report/run-facts.ts';
import { startServers } from './servers.ts';
import type { Servers, ServersHandle } from './servers.ts';

/** `npm run bench -- token gateway` measures these parts, or all. Exit code 0 whatever the figures. */
const START_LIMIT_SEC = 120;
const PROJECT = resolve(import.meta.dirname, '../..');

const say = (line: string) => {
  console.log(line);
};

function partsNamed(names: readonly string[]): string[] {
  const unknown = names.filter((name) => !Object.hasOwn(PARTS, name));
  if (unknown.length > 0) {
    throw new Error(
      `There is no part ${unknown.join(', ')}: npm run bench -- ${Object.keys(PARTS).join(' ')}`,
    );
  }
  return Object.keys(PARTS).filter((name) => names.length === 0 || names.includes(name));
}

/** Writes each part's result at once, so that a later failure doesn't lose it. */
async function run(
  names: readonly string[],
  start: () => Promise<Servers>,
  write: (results: Map<string, PartResult>) => void,
): Promise<Map<string, PartResult>> {
  const results = new Map<string, PartResult>();
  for (const name of names) {
    const part = PARTS[name];
    if (part === undefined) continue;
    results.set(name, await ('run' in part ? part.run(await start(), say) : part.compute(PROJECT, say)));
    write(results);
  }
  return results;
}

async function main(): Promise<void> {
  const stopped = stopSignal().then((signal) => {
    throw new Error(`Stopped by ${signal}; what was measured is written.`);
  });
  // Handled in the race below.
  stopped.catch(() => undefined);
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: { profile: { type: 'string' } },
  });
  const names = partsNamed(positionals);
  const places = placesOf();
  const facts = runFacts(names, places);
  let servers: ServersHandle | undefined;
  // Only for a part that measures.
  const start = async () => {
    servers ??= await startServers({ places, say, profileDir: values.profile });
    return await servers.started;
  };
  const limitSec = names.reduce((sum, name) => sum + (PARTS[name]?.timeLimitSec ?? 0), START_LIMIT_SEC);
  const tooLong = delay(limitSec * 1_000, undefined, { ref: false }).then(() => {
    throw new Error(`Not done after ${String(limitSec)} s.`);
  });
  try {
    const write = (measured: Map<string, PartResult>) => {
      writeResults(join(PROJECT, 'bench'), measured, Object.keys(PARTS), facts);
    };
    const results = await Promise.race([run(names, start, write), stopped, tooLong]);
    say(`\n${facts.machine}; ${facts.places}`);
    for (const [name, { goals, notes }] of results) {
      say([name, ...goals.map(goalText), ...notes].join('\n  '));
    }
    say('Written: bench/RESULTS.md, bench/results.json');
  } finally {
    await servers?.stop();
  }
}

try {
  await main();
  process.exit(0);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
}
