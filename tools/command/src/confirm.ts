import { createInterface } from 'node:readline/promises';
import { EXIT, Failure, usageFault } from './failures.ts';

/**
 * Asks before what can't be taken back, or is felt by customers at once. `--yes` skips the question; it is
 * required without a terminal, so that a script never does it by accident. `typed` is what has to be typed in place of
 * yes.
 *
 * @throws {Failure} usage without a terminal; refused where the answer is another one
 */
export async function confirm(
  question: string,
  { yes, typed }: { yes?: boolean | undefined; typed?: string | undefined },
): Promise<void> {
  if (yes === true) return;
  if (!process.stdin.isTTY || !process.stderr.isTTY) {
    throw usageFault(`${question} Confirmation needs a terminal. Add --yes.`);
  }
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const interrupted = new Promise<never>((_resolve, reject) => {
      terminal.once('SIGINT', () => {
        reject(new Failure(EXIT.interrupted, 'Cancelled. Nothing was changed.'));
      });
    });
    const asked = typed === undefined ? `${question} [y/N] ` : `${question} Type ${typed} to go on: `;
    const answer = (await Promise.race([terminal.question(asked), interrupted])).trim();
    const isConfirmed = typed === undefined ? /^y(es)?$/i.test(answer) : answer === typed;
    if (!isConfirmed) throw new Failure(EXIT.refused, 'Cancelled. Nothing was changed.');
  } finally {
    terminal.close();
  }
}
