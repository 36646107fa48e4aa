import { resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { stopSignal } from '../../scripts/launcher/stop-signal.ts';
import { placesOf } from './cores.ts';
import { measure } from './measure.ts';
import type { PartResult } from './measure.ts';
import { PARTS } from './parts.ts';
import type { Part } from './parts.ts';
import { summaryOf, writeResults } from './results.ts';
import { runFacts } from './run-facts.ts';
import { startServers } from './servers.ts';
import type { Servers } from './servers.ts';

/**
 * `npm run bench -- token introspect`: the named parts, or all. Exit code 0 when they were measured, whatever
 * came out; 1 after a failure, a signal or too long a time. Nothing is left running.
 */
const TIME_LIMIT_PER_PART_MS = 80_000;

const say = (line: string) => {
  console.log(line);
};

function partsNamed(names: readonly string[]): Part[] {
  const unknown = names.filter((name) => !Object.hasOwn(PARTS, name));
  if (unknown.length > 0) {
    throw new Error(
      `There is no part ${unknown.join(', ')}: npm run bench -- ${Object.keys(PARTS).join(' ')}`,
    );
  }
  return Object.values(PARTS).filter(({ name }) => names.length === 0 || names.includes(name));
}

async function run(parts: readonly Part[], servers: Promise<Servers>): Promise<PartResult[]> {
  const results: PartResult[] = [];
  for (const part of parts) results.push(await measure(part, await servers, say));
  return results;
}

async function main(): Promise<void> {
  const stopped = stopSignal().then((signal) => {
    throw new Error(`Stopped by ${signal}; no results are written.`);
  });
  // Heard of in the race below, once there is one.
  stopped.catch(() => undefined);
  const parts = partsNamed(process.argv.slice(2));
  const places = placesOf();
  const facts = runFacts(
    parts.map(({ name }) => name),
    places,
  );
  const servers = await startServers(places, say);
  const limitMs = TIME_LIMIT_PER_PART_MS * parts.length;
  const tooLong = delay(limitMs, undefined, { ref: false }).then(() => {
    throw new Error(`Not done after ${String(limitMs / 1_000)} s.`);
  });
  try {
    const results = await Promise.race([run(parts, servers.started), stopped, tooLong]);
    writeResults(resolve(import.meta.dirname, '..'), results, facts);
    say(`\n${facts.machine}; ${facts.places}`);
    for (const result of results) say([summaryOf(result), ...result.doubts].join('\n  '));
    say('Written: bench/RESULTS.md, bench/results.json');
  } finally {
    await servers.stop();
  }
}

try {
  await main();
  process.exit(0);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
}
