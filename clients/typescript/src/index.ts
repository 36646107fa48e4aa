export { createClient } from './client.ts';
export type { CallOptions, ClientOptions, Result, TollgateClient, Variables } from './client.ts';
export type * from './api.ts';
export type { FreshToken } from './tokens.ts';
export type { Gap, SubscriptionEvent } from './subscriptions.ts';
export * from './codes.ts';
export * from './errors.ts';
