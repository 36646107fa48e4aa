import { Command } from 'ioredis';

/**
 * Has a timeout of its own: ioredis' deletes a property of each command, which V8 then reads slowly
 * (docs/design/settlement.md).
 */
export class ScriptCommand extends Command {
  #timeLimit: NodeJS.Timeout | undefined;

  constructor(name: 'evalsha' | 'eval', args: (string | number)[]) {
    super(name, args, { replyEncoding: 'utf8' });
  }

  override setTimeout(ms: number): void {
    this.#timeLimit ??= setTimeout(() => {
      this.reject(new Error('Command timed out'));
    }, ms);
  }

  clearTimeLimit(): void {
    clearTimeout(this.#timeLimit);
  }
}
