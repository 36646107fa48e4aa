import { CommanderError } from 'commander';
import { ConfigError } from '@tollgate/config';

/** Why a command ends with another code than 0; docs/command.md lists them. */

export const EXIT = { refused: 1, usage: 2, unreachable: 3, differences: 4, interrupted: 130 } as const;

/** A command that ends with a message on stderr and a code. */
export class Failure extends Error {
  readonly exitCode: number;

  constructor(exitCode: number, message: string) {
    super(message);
    this.name = 'Failure';
    this.exitCode = exitCode;
  }
}

/** The code that a command ends with. */
export function exitCodeOf(error: unknown): number {
  // commander has shown the help that was asked for, or has said what is wrong.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : EXIT.usage;
  if (error instanceof ConfigError) return EXIT.usage;
  return error instanceof Failure ? error.exitCode : EXIT.refused;
}

/** What the command line itself, or a setting or file that it names, has wrong. */
export const usageFault = (message: string) => new Failure(EXIT.usage, message);

/** The API's own refusal (RFC 9457). */
export class Refusal extends Failure {
  readonly status: number;
  readonly code: string;
  /** The answer's body, as it came. */
  readonly text: string;

  constructor(status: number, text: string, problem: ProblemDocument) {
    super(EXIT.refused, refusalText(problem));
    this.name = 'Refusal';
    this.status = status;
    this.code = problem.code;
    this.text = text;
  }
}

export type ProblemDocument = {
  title: string;
  code: string;
  detail?: string | undefined;
  request_id?: string | undefined;
  errors?: readonly { field: string; message: string }[] | undefined;
};

/** Title and code, then every faulty field on a line of its own. */
function refusalText({ title, code, detail, errors = [], request_id }: ProblemDocument): string {
  const fields = errors.map(({ field, message }) => `  ${field === '' ? '(request)' : field}: ${message}`);
  // With fields the detail is their sentence once more.
  const explained = errors.length === 0 && detail !== undefined && detail !== title ? [`  ${detail}`] : [];
  const hint =
    code === 'unauthorized' ? ['  The credential is not in the account service’s OPERATOR_CREDENTIALS.'] : [];
  const id = request_id === undefined || request_id === '' ? [] : [`  request ${request_id}`];
  return [`${title} (${code})`, ...explained, ...fields, ...hint, ...id].join('\n');
}
