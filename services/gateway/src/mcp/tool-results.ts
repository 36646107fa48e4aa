import type { CallToolResult } from '@modelcontextprotocol/server';
import type { Problem } from '@tollgate/http/problem';
import { graphqlError } from '../http/graphql-error.ts';
import type { CollectedAnswer } from './collected-answer.ts';
import { cutJson } from './cut-json.ts';

/** Of the text that a tool answers with. */
export const ANSWER_MAX_BYTES = 49_152;

/** For the sentence that says what the text is. */
const NOTE_MAX_BYTES = 512;

/** What is wanted of an answer in order to cut it. */
export const KEPT_BYTES = ANSWER_MAX_BYTES + 1;

export function textResult(text: string, notes: readonly string[] = []): CallToolResult {
  return { content: [text, ...notes].map((each) => ({ type: 'text', text: each })) };
}

/** The upstream's answer. */
export function answerResult(answer: CollectedAnswer): CallToolResult {
  const refusal = refusalIn(answer);
  if (refusal !== null) return refusal;
  const text = new TextDecoder().decode(answer.body, { stream: answer.bodyBytes > answer.body.length });
  const notes = costNotes(answer);
  const maxBytes = ANSWER_MAX_BYTES - NOTE_MAX_BYTES;
  if (answer.bodyBytes <= maxBytes) {
    return { ...textResult(text, notes), ...(isFailed(answer, text) && { isError: true }) };
  }
  const cut = cutJson(text, maxBytes);
  const note = `The answer has ${String(answer.bodyBytes)} bytes and is cut off after a field. Ask for fewer fields, or page with the arguments of its lists.`;
  return cut === null
    ? {
        ...textResult('The answer is too large, and has no field at which it can be cut.', notes),
        isError: true,
      }
    : textResult(cut, [note, ...notes]);
}

/** Nothing came: the caller has gone, or the upstream broke off. */
export function brokenOff(): CallToolResult {
  return {
    ...textResult('The answer broke off. It may have been charged; read the usage before trying again.'),
    isError: true,
  };
}

export function refusalOf(problem: Problem): CallToolResult {
  const { message, extensions } = graphqlError(problem, '');
  return refused(message, extensions);
}

/** The gateway's own; an upstream's error is an answer (RFC 9209). */
function refusalIn({ status, header, body, bodyBytes }: CollectedAnswer): CallToolResult | null {
  if (status < 400 || header('proxy-status') !== undefined || bodyBytes > body.length) return null;
  const { errors } = JSON.parse(body.toString()) as {
    errors: { message: string; extensions: Record<string, unknown> }[];
  };
  const [error] = errors;
  if (error === undefined) return null;
  const wait = header('retry-after');
  return refused(error.message, {
    ...(wait !== undefined && { retry_after_sec: Number(wait) }),
    ...error.extensions,
  });
}

/** In words, so that a model stops, and as data, so that its program does. */
function refused(
  message: string,
  { request_id, ...facts }: Readonly<Record<string, unknown>>,
): CallToolResult {
  const { code, retry_after_sec: waitSec } = facts;
  const next =
    typeof waitSec === 'number'
      ? `Wait ${String(waitSec)} seconds before the next call.`
      : 'The same call will be refused again.';
  const data = request_id === '' ? facts : { ...facts, request_id };
  return {
    ...textResult(`Refused (${String(code)}): ${message} ${next}`),
    structuredContent: data,
    isError: true,
  };
}

function costNotes({ header }: CollectedAnswer): string[] {
  const [cost, left] = [header('x-points-cost'), header('x-points-remaining')];
  if (cost === undefined) return [];
  return [`Cost: ${cost} points.${left === undefined ? '' : ` Left in this billing period: ${left}.`}`];
}

function isFailed({ status }: CollectedAnswer, text: string): boolean {
  if (status >= 400) return true;
  try {
    const { data, errors } = JSON.parse(text) as { data?: unknown; errors?: unknown };
    return errors !== undefined && (data === undefined || data === null);
  } catch {
    return true;
  }
}
