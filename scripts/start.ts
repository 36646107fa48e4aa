import { rmSync } from 'node:fs';
import { localDemo, welcome } from './launcher/demo.ts';
import { buildBooks, launch } from './launcher/launch.ts';
import { takeLock } from './launcher/lock.ts';
import type { Lock } from './launcher/lock.ts';
import { operatorLink } from './launcher/operator-link.ts';
import { requireFreePorts } from './launcher/ports.ts';
import { loadSecrets } from './launcher/secrets.ts';
import { addressLines, readSettings } from './launcher/settings.ts';
import type { Settings } from './launcher/settings.ts';
import { clearLogs, makeStateDirectory, statePaths, writePrivateFile } from './launcher/state.ts';
import { localUrl } from '@tollgate/stack/service-settings';
import { stopSignal } from './launcher/stop-signal.ts';
import { createSupervisor, endLeftovers } from './launcher/supervisor.ts';

/** `npm start`: runs everything until a signal. Exits with 0 after a signal, 1 after a failure. */
const say = (line: string) => {
  console.log(line);
};

async function main(): Promise<void> {
  const stop = stopSignal();
  const settings = readSettings(process.env);
  const paths = statePaths(settings.directory);
  makeStateDirectory(settings.directory);
  const lock = await takeLock(paths.lock, addressLines(settings), say);
  // A killed launcher leaves a file that describes a stack which no longer runs.
  rmSync(paths.demo, { force: true });
  await run(settings, lock, stop);
}

async function run(settings: Settings, lock: Lock, stop: Promise<NodeJS.Signals>): Promise<void> {
  const paths = statePaths(settings.directory);
  const supervisor = createSupervisor(paths.ledger, say);
  let isOver = false;
  try {
    const leftovers = await endLeftovers(paths.ledger);
    if (leftovers.length > 0) say(`Ended what the last start left running: ${leftovers.join(', ')}`);
    await requireFreePorts(settings);
    clearLogs(paths.logs);
    const secrets = loadSecrets(paths);
    const context = { settings, secrets, supervisor, say };
    const started = launch(context);
    const first = await Promise.race([started, stop, supervisor.failure]);
    if (typeof first === 'object') {
      const demo = localDemo(settings, secrets, first);
      writePrivateFile(paths.demo, demo);
      const link = await operatorLink(localUrl(settings.ports.accountPrivate), secrets.credentials.operator);
      say(welcome(settings, demo, paths, link));
      // Only now: they would take as long as all else.
      buildBooks(context).catch((error: unknown) => {
        if (!isOver) say(`The documentation could not be built. ${messageOf(error)}`);
      });
    }
    await Promise.race([stop, supervisor.failure]);
    say('\nStopping …');
  } finally {
    isOver = true;
    lock.announceStop();
    rmSync(paths.demo, { force: true });
    await supervisor.stopAll();
    lock.release();
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

try {
  await main();
  say('Stopped.');
  process.exit(0);
} catch (error) {
  console.error(messageOf(error));
  process.exit(1);
}
