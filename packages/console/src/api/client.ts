import createClient from 'openapi-fetch';
import type { Client, Middleware } from 'openapi-fetch';
import { brand } from './brand.ts';
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
    super(messageOf(problem));
    this.name = 'ApiError';
    this.problem = problem;
    this.retryAfterSec = retryAfterSec;
  }
}

function messageOf(problem: Problem | null): string {
  if (problem === null) return `${brand.name} cannot be reached. Check your connection.`;
  // Its detail tells a program what to send.
  if (isOfOtherSession(problem)) return 'You have signed in anew in another window. Reload this page.';
  return problem.detail ?? problem.title;
}

/** Whether the request has the CSRF token of a session that the browser's cookie no longer is for. */
const isOfOtherSession = ({ code }: Problem) => code === 'csrf_token_required';

let csrfToken: string | null = null;
let adoptSession: () => Promise<boolean> = () => Promise.resolve(false);
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

/**
 * Sets what reads the session anew when another window has replaced it. It resolves to whether that is the same
 * account's, so that what was asked for in this tab may be sent with it.
 */
export function onSessionReplaced(adopt: () => Promise<boolean>): void {
  adoptSession = adopt;
}

/** Sets what happens when a request is refused because the session has ended. */
export function onSessionExpired(listener: () => void): void {
  onSessionEnd = listener;
}

const SIGN_IN = /^\/api\/console\/session(?:\/totp|\/recovery-code|\/passkey|\/passkey\/options)?$/;

/** `signIn`: paths where a 401 says that a sign-in failed, not that a session has ended. */
const csrf = (signIn: RegExp): Middleware => ({
  onRequest({ request }) {
    if (csrfToken !== null && request.method !== 'GET') request.headers.set('x-csrf-token', csrfToken);
    return request;
  },
  onResponse({ request, response }) {
    latestRequestId = response.headers.get('x-request-id') ?? latestRequestId;
    noteServerTime(response.headers.get('date'));
    noteStatus(response.status);
    if (response.ok) announceSessionChange(request);
    if (response.status === 401 && !signIn.test(new URL(request.url).pathname)) onSessionEnd();
    return response;
  },
});

/** Sends a request, and sends it again where only the session's token has changed. */
async function send(request: Request): Promise<Response> {
  const again = request.method === 'GET' ? null : request.clone();
  const response = await fetch(request);
  if (again === null || response.status !== 403) return response;
  const problem: unknown = await response
    .clone()
    .json()
    .catch(() => null);
  if (!isProblem(problem) || !isOfOtherSession(problem) || !(await adoptSession())) return response;
  again.headers.set('x-csrf-token', csrfToken ?? '');
  return fetch(again);
}

/** A client of an API whose document types paths, bodies and responses. The browser has one session, whatever the API. */
export function createApiClient<Paths extends object>(signIn: RegExp): Client<Paths> {
  const client = createClient<Paths>({ baseUrl: '/', fetch: send });
  client.use(csrf(signIn));
  return client;
}

/** The API client of customers: docs/openapi.json. */
export const api = createApiClient<paths>(SIGN_IN);

export type Outcome<T> = { data?: T; error?: unknown; response: Response };

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
