import { randomUUID } from 'node:crypto';

export type WebhookEvent = {
  type: 'usage.alert' | 'webhook.test';
  timestamp: Date;
  data: Readonly<Record<string, unknown>>;
};

/** The same at every attempt. Contains no full stop, which separates the signed parts. */
export function newMessageId(): string {
  return `msg_${randomUUID().replaceAll('-', '')}`;
}
