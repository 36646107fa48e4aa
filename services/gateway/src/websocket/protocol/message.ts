import { isObject, parseKeepingDigits } from '../../operation-reader/json.ts';
import { memberTexts } from '../../operation-reader/json-text.ts';

export type Message = {
  type: string;
  id?: string;
  payload?: unknown;
  /** Of a caller's long message: what its payload was written as, since numbers in it have lost their digits. */
  payloadText?: string;
};

/** More than any client needs (a UUID has 36 characters), so that ids can't fill the memory. */
const MAX_ID_LENGTH = 256;

/** Keeping the digits of all numbers of a longer text holds the event loop for up to 100 ms. */
const DIGITS_MAX_LENGTH = 16_384;

/** Parses a message to be rewritten, since the upstream might read the other of two members with one name. */
export function parseCallerMessage(text: string): Message | null {
  try {
    const isLong = text.length > DIGITS_MAX_LENGTH;
    const message = toMessage(isLong ? JSON.parse(text) : parseKeepingDigits(text));
    if (message === null || (message.id?.length ?? 0) > MAX_ID_LENGTH) return null;
    const payloadText = isLong ? memberTexts(text).get('payload') : undefined;
    return payloadText === undefined ? message : { ...message, payloadText };
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

/** A message of the upstream with another id, and all else as it was written. */
export function withId(bytes: Buffer, id: string): Buffer {
  const members = [...memberTexts(bytes.toString()).set('id', JSON.stringify(id))];
  return Buffer.from(`{${members.map(([name, written]) => `${JSON.stringify(name)}:${written}`).join()}}`);
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
