import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { PNPM } from '../install.mjs';
import { judge } from './judge.ts';
import type { Accepted, Advisory } from './judge.ts';

// `npm run audit`: asks the registry for advisories about everything in the lockfile. Exits with 1 if one of high or
// critical severity isn't accepted, or an accepted one no longer applies. Without an answer of the registry nothing is
// audited; it says so, and that is a failure only with REQUIRE_AUDIT=1.
const TIME_LIMIT_MS = 60_000;

const { values } = parseArgs({
  options: {
    registry: { type: 'string' },
    accepted: { type: 'string', default: `${import.meta.dirname}/accepted.json` },
  },
});
const accepted = JSON.parse(readFileSync(values.accepted, 'utf8')) as Accepted[];
const answer = askRegistry();
if (answer === undefined) {
  console.error('NOT AUDITED: the registry gives no advisories. Vulnerable dependencies would go unnoticed.');
  process.exit(process.env['REQUIRE_AUDIT'] === '1' ? 1 : 0);
}
const { known, faults } = judge(answer, accepted);
for (const line of known) console.log(line);
for (const line of faults) console.error(line);
console.log(faults.length === 0 ? 'No new advisory of high or critical severity.' : 'The audit failed.');
process.exit(faults.length === 0 ? 0 : 1);

/** Undefined if it can't be reached, or doesn't know advisories. */
function askRegistry(): Advisory[] | undefined {
  const registry = values.registry === undefined ? [] : [`--registry=${values.registry}`];
  const { stdout } = spawnSync(
    'npx',
    ['--yes', PNPM, 'audit', '--json', '--config.fetch-retries=0', ...registry],
    {
      cwd: `${import.meta.dirname}/../..`,
      encoding: 'utf8',
      timeout: TIME_LIMIT_MS,
    },
  );
  try {
    const { advisories } = JSON.parse(stdout) as { advisories?: Record<string, Advisory> };
    return advisories === undefined ? undefined : Object.values(advisories);
  } catch {
    return undefined;
  }
}
