export { createClient } from './client.ts';
export type { CallOptions, ClientOptions, Result, TollgateClient, Variables } from './client.ts';
export type * from './api.ts';
export type { FreshToken } from './tokens.ts';
export type { Gap, SubscriptionEvent } from './subscriptions.ts';
export type { ErrorCode, GraphQLErrorLike } from './errors.ts';
export {
  AccessDeniedError,
  AuthenticationError,
  ConnectionError,
  DataApiError,
  PlanError,
} from './errors.ts';
export { RateLimitError, RequestError, TollgateError, UnavailableError, ERROR_CODES } from './errors.ts';
