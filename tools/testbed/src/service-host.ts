import { flushCompileCache } from 'node:module';
import { pathToFileURL } from 'node:url';

/** `file` exports `run`, which main.ts calls in a process of its own. */
export type Order = { file: string; env: Readonly<Record<string, string>> } | 'stop';

/** By then what services leave behind in a process could add up. */
const RUNS_MAX = 30;

const exit = process.exit.bind(process);
let runs = 0;
let isRunning = false;

/**
 * The program of a process that runs a service anew for one suite after the other, so that its modules are loaded and
 * its code is compiled once. A service ends it where it would end its own process, but for the good end of a stop:
 * then this process waits for the next order.
 */
process.on('message', (order: Order) => {
  if (order === 'stop') stop();
  else void run(order);
});
process.on('disconnect', () => exit(0));

async function run({ file, env }: Exclude<Order, 'stop'>): Promise<void> {
  runs += 1;
  isRunning = true;
  // eslint-disable-next-line no-restricted-properties -- what config.ts of the service reads
  process.env = env;
  const service = (await import(pathToFileURL(file).href)) as { run: () => Promise<void> };
  if (runs === 1) flushCompileCache();
  await service.run();
}

function stop(): void {
  if (!isRunning) return;
  if (runs < RUNS_MAX) process.exit = endRun as typeof exit;
  process.emit('SIGTERM', 'SIGTERM');
}

function endRun(code: number): void {
  process.exit = exit;
  if (code !== 0) exit(code);
  isRunning = false;
  process.removeAllListeners('SIGTERM').removeAllListeners('SIGINT');
  // Lines of this turn are written at its end.
  setImmediate(() => setImmediate(() => process.send?.('stopped')));
}
