import { Command } from 'ioredis';

/**
 * A call of a script, with a time limit of its own kind: ioredis' deletes a property of each command that is
 * answered, which leaves it an object that everything after reads slowly (ADR 0033).
 */
export class ScriptCommand extends Command {
  #timeLimit: NodeJS.Timeout | undefined;

  constructor(name: 'evalsha' | 'eval', args: (string | number)[]) {
    super(name, args, { replyEncoding: 'utf8' });
  }

  /** Called by ioredis as the command is sent, and when it is sent again, with the connection's commandTimeout. */
  override setTimeout(ms: number): void {
    this.#timeLimit ??= setTimeout(() => {
      this.reject(new Error('Command timed out'));
    }, ms);
  }

  /** For when it is answered. */
  clearTimeLimit(): void {
    clearTimeout(this.#timeLimit);
  }
}
