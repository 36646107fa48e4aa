export type Message = { type: string; id?: string; payload?: unknown };

/** More than any client needs (a UUID has 36 characters), so that ids can't fill the memory. */
const MAX_ID_LENGTH = 256;

/** Parses a message to be rewritten, since the upstream might read the other of two members with one name. */
export function parseKeepingDigits(text: string): Message | null {
  try {
    const message = toMessage(JSON.parse(text, keepDigits as Reviver));
    return message?.id !== undefined && message.id.length > MAX_ID_LENGTH ? null : message;
  } catch {
    // Not JSON, or nested so deeply that parsing overflows the stack.
    return null;
  }
}

/** Parses a message that is passed on byte for byte; null if it is invalid. */
export function parseUpstreamMessage(text: string): Message | null {
  try {
    return toMessage(JSON.parse(text));
  } catch {
    return null;
  }
}

export function withId(bytes: Buffer, id: string): Buffer | null {
  const message = parseKeepingDigits(bytes.toString());
  return message === null ? null : Buffer.from(JSON.stringify({ ...message, id }));
}

type Reviver = (this: unknown, key: string, value: unknown) => unknown;

/** JSON.rawJSON and a reviver's third argument (ECMAScript 2026) are newer than TypeScript's library. */
const { rawJSON, isRawJSON } = JSON as unknown as {
  rawJSON: (text: string) => unknown;
  isRawJSON: (value: unknown) => boolean;
};

function keepDigits(_key: string, value: unknown, context: { source?: string }): unknown {
  return typeof value === 'number' && context.source !== undefined && context.source !== String(value)
    ? rawJSON(context.source)
    : value;
}

function toMessage(value: unknown): Message | null {
  if (!isObject(value)) return null;
  const { type, id, payload } = value;
  if (typeof type !== 'string') return null;
  if (id !== undefined && !isOperationId(id)) return null;
  return {
    type,
    ...(id === undefined ? {} : { id }),
    ...(payload === undefined ? {} : { payload }),
  };
}

function isOperationId(id: unknown): id is string {
  return typeof id === 'string' && id.length > 0;
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isRawJSON(value);
}
