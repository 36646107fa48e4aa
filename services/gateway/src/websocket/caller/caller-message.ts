import { isNestedBeyond } from '../../operation-reader/json-text.ts';
import { MAX_NESTING } from '../../operation-reader/protocol-names.ts';
import { parseCallerMessage } from '../protocol/message.ts';
import type { Message } from '../protocol/message.ts';
import type { Protocol } from '../protocol/protocol.ts';

export type CallerMessage =
  | { kind: 'initialise'; payload: unknown }
  | { kind: 'start'; message: Message }
  | { kind: 'stop'; id: string | undefined }
  | { kind: 'ping'; payload: unknown }
  | { kind: 'pong' }
  | { kind: 'terminate' }
  | { kind: 'invalid'; detail: string };

/** connection_init is kept for as long as its socket is open. */
const MAX_INIT_BYTES = 16_384;

/** A request stands in its message. */
const MAX_MESSAGE_NESTING = MAX_NESTING + 1;

export function readCallerMessage(protocol: Protocol, data: Buffer, isBinary: boolean): CallerMessage {
  const text = isBinary ? '' : data.toString();
  if (isNestedBeyond(text, MAX_MESSAGE_NESTING))
    return invalid(`A message may be nested ${String(MAX_MESSAGE_NESTING)} levels deep.`);
  const message = parseCallerMessage(text);
  if (message === null) return invalid('A message must be text: a JSON object with a type.');
  const { type, id, payload } = message;
  switch (type) {
    case 'connection_init':
      if (data.length > MAX_INIT_BYTES) return invalid('The connection_init message is too large.');
      return { kind: 'initialise', payload };
    case protocol.start:
      return { kind: 'start', message };
    case protocol.stop:
      return { kind: 'stop', id };
  }
  if (protocol.pings && type === 'ping') return { kind: 'ping', payload };
  if (protocol.pings && type === 'pong') return { kind: 'pong' };
  if (!protocol.pings && type === 'connection_terminate') return { kind: 'terminate' };
  return invalid('The message type is unknown.');
}

function invalid(detail: string): CallerMessage {
  return { kind: 'invalid', detail };
}
