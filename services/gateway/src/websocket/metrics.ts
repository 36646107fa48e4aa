import { Counter, Gauge } from 'prom-client';
import type { Registry } from 'prom-client';
import { observeValue } from '@tollgate/server/tallies';

export type WebSocketMetrics = {
  onUpgrade: (outcome: string) => void;
  onClosed: (closeCode: number) => void;
  onOperations: (change: 1 | -1) => void;
  onPassedOn: (direction: 'to_caller' | 'to_upstream', bytes: number) => void;
  observeSockets: (open: () => number) => void;
};

/** Codes that come from the gateway, from ws and from honest callers; a caller may choose others freely. */
const KNOWN_CODES = new Set([
  1000, 1001, 1002, 1005, 1006, 1007, 1008, 1009, 1011, 1012, 1013, 4400, 4401, 4403, 4408, 4409, 4429,
]);

export function createWebSocketMetrics(registry: Registry): WebSocketMetrics {
  const registers = [registry];
  const upgrades = new Counter({
    name: 'tollgate_websocket_upgrades_total',
    help: 'Upgrade requests by outcome: accepted, or the code of the refusal',
    labelNames: ['outcome'],
    registers,
  });
  const closes = new Counter({
    name: 'tollgate_websocket_closes_total',
    help: 'Closed WebSockets by close code; 1006 is a connection that broke or was cut',
    labelNames: ['code'],
    registers,
  });
  const messages = new Counter({
    name: 'tollgate_websocket_messages_total',
    help: 'Operations and results passed on over WebSockets, by direction',
    labelNames: ['direction'],
    registers,
  });
  const bytes = new Counter({
    name: 'tollgate_websocket_message_bytes_total',
    help: 'Bytes of those messages',
    labelNames: ['direction'],
    registers,
  });
  const operations = new Gauge({
    name: 'tollgate_websocket_operations_open',
    help: 'Operations that callers have begun and that have not ended',
    registers,
  });
  return {
    onUpgrade: (outcome) => {
      upgrades.inc({ outcome });
    },
    onClosed: (closeCode) => {
      closes.inc({ code: KNOWN_CODES.has(closeCode) ? String(closeCode) : 'other' });
    },
    onOperations: (change) => {
      operations.inc(change);
    },
    onPassedOn: (direction, length) => {
      messages.inc({ direction });
      bytes.inc({ direction }, length);
    },
    observeSockets: (open) => {
      observeValue(registry, {
        name: 'tollgate_websockets_open',
        help: 'Open WebSockets of callers',
        read: open,
      });
    },
  };
}
