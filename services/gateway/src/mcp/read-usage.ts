import type { CallToolResult } from '@modelcontextprotocol/server';
import { REQUEST_ID_HEADER } from '@tollgate/log/request-id';
import type { TrustsAddress } from '@tollgate/http/caller-address';
import { Problem } from '@tollgate/http/problem';
import { fieldValues } from '@tollgate/http/request-head';
import { forwardedFields } from '../http/forwarded-for.ts';
import type { McpCaller } from './caller.ts';
import { textResult } from './tool-results.ts';

export type ReadUsage = (caller: McpCaller) => Promise<CallToolResult>;

/** account's `GET /api/usage`, with the caller's own token. */
export function createReadUsage(options: {
  accountUrl: string;
  timeoutMs: number;
  trusts: TrustsAddress;
}): ReadUsage {
  const url = `${options.accountUrl}/api/usage`;
  return async ({ req, requestId, signal }) => {
    const headers = new Headers({
      authorization: fieldValues(req.rawHeaders, 'authorization')[0] ?? '',
      [REQUEST_ID_HEADER]: requestId,
    });
    const forwarded = forwardedFields(req, options.trusts(req.socket.remoteAddress));
    for (let index = 0; index + 1 < forwarded.length; index += 2)
      headers.set(forwarded[index] ?? '', forwarded[index + 1] ?? '');
    const answer = await fetch(url, {
      headers,
      redirect: 'error',
      signal: AbortSignal.any([signal, AbortSignal.timeout(options.timeoutMs)]),
    }).catch((cause: unknown) => {
      throw new Problem('service_unavailable', { cause });
    });
    const text = await answer.text();
    if (answer.ok) return textResult(text);
    if (answer.status >= 500) throw new Problem('service_unavailable');
    const { code, detail, title } = JSON.parse(text) as { code: string; detail?: string; title: string };
    return {
      ...textResult(`Refused (${code}): ${detail ?? title}`),
      structuredContent: { code },
      isError: true,
    };
  };
}
