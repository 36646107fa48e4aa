import type { ErrorCode } from './codes.ts';

/** What is known of a failure: never a token, a secret or a body of an unknown form. */
export type ErrorFacts = { code: string; message: string } & Partial<
  Omit<DataApiError, 'code' | 'message' | 'name'>
>;

/** The base of all errors of this library. Codes that it doesn't know have no other class. */
export class TollgateError extends Error {
  /** Branch on it, not on the message: docs/errors.md lists them all. */
  declare readonly code: ErrorCode | (string & {});
  /** Of the HTTP response; undefined if there was none. */
  declare readonly status: number | undefined;
  /** For support. */
  declare readonly requestId: string | undefined;
  /** Of the plan or budget, and what is left of it. */
  declare readonly limit: number | undefined;
  declare readonly remaining: number | undefined;
  /** How long to wait, from the response on. */
  declare readonly retryAfterMs: number | undefined;
  /** When the limit resets: at the end of the billing period or of the budget's window. */
  declare readonly resetsAt: Date | undefined;
  /** What else the refusal states, such as `budget`, `buy_url` or `locations`. */
  declare readonly details: Readonly<Record<string, unknown>> | undefined;

  constructor({ message, cause, ...facts }: ErrorFacts) {
    super(message.slice(0, MAX_MESSAGE_CHARACTERS), { cause });
    Object.assign(this, { name: new.target.name, ...facts });
  }
}

/** The data API's own: `data_api_error` for errors of a GraphQL result, else `upstream_error`. */
export class DataApiError extends TollgateError {
  declare readonly errors: readonly GraphQLErrorLike[];
  /** Of the result, where the errors left some. */
  declare readonly data: unknown;
  /** Points that the call cost. */
  declare readonly cost: number | undefined;
}

export type GraphQLErrorLike = {
  message: string;
  path?: readonly (string | number)[];
  extensions?: Readonly<Record<string, unknown>>;
};

const MAX_MESSAGE_CHARACTERS = 500;
