import { randomUUID } from 'node:crypto';

/** With their meaning in docs/webhooks.md. */
export const WEBHOOK_EVENTS = {
  'usage.alert': 'usage has passed a threshold of an alert',
  'credits.granted': 'credits were granted to the account',
  'credits.expiring': 'credits that are not used yet expire soon',
  'credits.low': 'a fifth or less of the credits is left',
  'invoice.paid': 'an invoice was paid',
  'payment.failed': 'a payment of an invoice failed for the first time',
  'top_up.failed': 'an automatic top-up failed or is paused',
  'webhook.test': 'a test, sent on request',
} as const;

type EventType = keyof typeof WEBHOOK_EVENTS;

export const EVENT_TYPES = Object.keys(WEBHOOK_EVENTS) as EventType[];

export type WebhookEvent = {
  type: EventType;
  timestamp: Date;
  data: Readonly<Record<string, unknown>>;
};

/** The same at every attempt. Contains no full stop, which separates the signed parts. */
export function newMessageId(): string {
  return `msg_${randomUUID().replaceAll('-', '')}`;
}
