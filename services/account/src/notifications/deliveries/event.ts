import { randomUUID } from 'node:crypto';

/** What a webhook can be told of. */
export type WebhookEvent = {
  type: 'usage.alert' | 'webhook.test';
  /** When it happened. */
  timestamp: Date;
  data: Readonly<Record<string, unknown>>;
};

/** The id of a message, the same at every attempt; it has no full stop, which separates what is signed. */
export function newMessageId(): string {
  return `msg_${randomUUID().replaceAll('-', '')}`;
}
