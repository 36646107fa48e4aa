import createClient from 'openapi-fetch';
import type { Middleware } from 'openapi-fetch';
import { brand } from '../brand.ts';
import { noteFailure, noteStatus } from './connection.ts';
import type { components, paths } from './schema.d.ts';
import { noteServerTime } from './server-clock.ts';
import { announceSessionChange } from './tabs.ts';

export type Session = components['schemas']['Session'];
export type Application = components['schemas']['Application'];
export type SecondStep = components['schemas']['SecondStep'];
export type Token = components['schemas']['Token'];
type Problem = components['schemas']['Problem'];

/** A request that was refused or failed. `problem` is null where no response of Tollgate came back. */
export class ApiError extends Error {
  readonly problem: Problem | null;
  /** From Retry-After; null where there is none. */
  readonly retryAfterSec: number | null;
  /** When the response came, by `performance.now()`. */
  readonly atMs = performance.now();

  constructor(problem: Problem | null, retryAfterSec: number | null = null) {
    super(problem?.detail ?? problem?.title ?? `${brand.name} cannot be reached. Check your connection.`);
    this.name = 'ApiError';
    this.problem = problem;
    this.retryAfterSec = retryAfterSec;
  }
}

let csrfToken: string | null = null;
let onSessionEnd: () => void = () => undefined;
let latestRequestId: string | null = null;

/** The id of the latest request, by which support finds in the logs what led to a fault of a page. */
export function lastRequestId(): string | null {
  return latestRequestId;
}

/** Sets the token that unsafe requests carry; it belongs to the session and changes with it. */
export function setCsrfToken(token: string | null): void {
  csrfToken = token;
}

/** Sets what happens when a request is refused because the session has ended. */
export function onSessionExpired(listener: () => void): void {
  onSessionEnd = listener;
}

/** Where a 401 says that a sign-in failed, not that a session has ended. */
const SIGN_IN = /^\/api\/console\/session(?:\/totp|\/recovery-code|\/passkey|\/passkey\/options)?$/;

const csrf: Middleware = {
  onRequest({ request }) {
    if (csrfToken !== null && request.method !== 'GET') request.headers.set('x-csrf-token', csrfToken);
    return request;
  },
  onResponse({ request, response }) {
    latestRequestId = response.headers.get('x-request-id') ?? latestRequestId;
    noteServerTime(response.headers.get('date'));
    noteStatus(response.status);
    if (response.ok) announceSessionChange(request);
    if (response.status === 401 && !SIGN_IN.test(new URL(request.url).pathname)) onSessionEnd();
    return response;
  },
};

/** The API client: paths, bodies and responses are typed by docs/openapi.json. */
export const api = createClient<paths>({ baseUrl: '/' });
api.use(csrf);

type Outcome<T> = { data?: T; error?: unknown; response: Response };

/**
 * Waits for a request and returns what it responded.
 *
 * @throws {ApiError} the problem that the API named, or that it could not be reached.
 */
export async function resultOf<T>(request: Promise<Outcome<T>>): Promise<T> {
  const outcome = await request.catch((error: unknown) => {
    if (error instanceof DOMException && error.name === 'AbortError') throw error;
    noteFailure('unreachable');
    throw new ApiError(null);
  });
  if (outcome.response.ok) return outcome.data as T;
  const retryAfterSec = Number(outcome.response.headers.get('retry-after') ?? Number.NaN);
  throw new ApiError(
    isProblem(outcome.error) ? outcome.error : null,
    Number.isFinite(retryAfterSec) ? retryAfterSec : null,
  );
}

/** The result, or null if the API responds with this status. */
export async function nullIf<T>(status: number, result: Promise<T>): Promise<T | null> {
  try {
    return await result;
  } catch (error) {
    if (error instanceof ApiError && error.problem?.status === status) return null;
    throw error;
  }
}

/** Whether the API refused with this status. */
export function hasStatus(error: unknown, status: number): boolean {
  return error instanceof ApiError && error.problem?.status === status;
}

function isProblem(error: unknown): error is Problem {
  return typeof error === 'object' && error !== null && 'code' in error && 'request_id' in error;
}
