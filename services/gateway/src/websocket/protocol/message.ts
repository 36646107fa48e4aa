import { isObject, parseKeepingDigits } from '../../operation-reader/json.ts';

export type Message = { type: string; id?: string; payload?: unknown };

/** More than any client needs (a UUID has 36 characters), so that ids can't fill the memory. */
const MAX_ID_LENGTH = 256;

/** Parses a message to be rewritten, since the upstream might read the other of two members with one name. */
export function parseCallerMessage(text: string): Message | null {
  try {
    const message = toMessage(parseKeepingDigits(text));
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
  const message = parseCallerMessage(bytes.toString());
  return message === null ? null : Buffer.from(JSON.stringify({ ...message, id }));
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
