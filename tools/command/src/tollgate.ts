#!/usr/bin/env node
import { CommanderError } from 'commander';
import { EXIT, Refusal, exitCodeOf } from './failures.ts';
import { createProgram } from './program.ts';

/** The command `tollgate`. Its exit codes are in docs/command.md. */

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // The reader, such as `head`, has closed the pipe.
  process.exit(error.code === 'EPIPE' ? 0 : EXIT.refused);
});
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    process.exit(signal === 'SIGINT' ? EXIT.interrupted : 143);
  });
}

const program = createProgram();
try {
  await program.parseAsync();
} catch (error) {
  const message = messageOf(error);
  if (message !== '') process.stderr.write(`${message}\n`);
  process.exitCode = exitCodeOf(error);
}

/** What isn't said yet of what went wrong. */
function messageOf(error: unknown): string {
  if (error instanceof CommanderError) return '';
  const json = program.opts<{ json?: boolean }>().json === true;
  if (json && error instanceof Refusal) return error.text;
  return error instanceof Error ? error.message : String(error);
}
