import { parseKeepingDigits } from '../message.ts';
import type { Message } from '../message.ts';
import type { Protocol } from '../protocol.ts';

/** What a caller has said, in either subprotocol. */
export type CallerMessage =
  | { says: 'initialise'; payload: unknown }
  | { says: 'start'; message: Message }
  | { says: 'stop'; id: string | undefined }
  | { says: 'ping'; payload: unknown }
  | { says: 'pong' }
  | { says: 'terminate' }
  | { says: 'nonsense'; detail: string };

/** A connection_init is kept for as long as its socket is open. */
const MAX_INIT_BYTES = 16_384;

export function readCallerMessage(protocol: Protocol, data: Buffer, isBinary: boolean): CallerMessage {
  const message = isBinary ? null : parseKeepingDigits(data.toString());
  if (message === null) return nonsense('A message must be text: a JSON object with a type.');
  const { type, id, payload } = message;
  switch (type) {
    case 'connection_init':
      if (data.length > MAX_INIT_BYTES) return nonsense('The connection_init message is too large.');
      return { says: 'initialise', payload };
    case protocol.start:
      return { says: 'start', message };
    case protocol.stop:
      return { says: 'stop', id };
  }
  if (protocol.pings && type === 'ping') return { says: 'ping', payload };
  if (protocol.pings && type === 'pong') return { says: 'pong' };
  if (!protocol.pings && type === 'connection_terminate') return { says: 'terminate' };
  return nonsense('The message type is unknown.');
}

function nonsense(detail: string): CallerMessage {
  return { says: 'nonsense', detail };
}
