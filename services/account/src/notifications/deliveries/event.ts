import { randomUUID } from 'node:crypto';

/** With their meaning in docs/webhooks.md. */
export const WEBHOOK_EVENTS = {
  'usage.alert': 'usage has passed a threshold of an alert',
  'webhook.test': 'a test, sent on request',
} as const;

export type WebhookEvent = {
  type: keyof typeof WEBHOOK_EVENTS;
  timestamp: Date;
  data: Readonly<Record<string, unknown>>;
};

/** The same at every attempt. Contains no full stop, which separates the signed parts. */
export function newMessageId(): string {
  return `msg_${randomUUID().replaceAll('-', '')}`;
}
