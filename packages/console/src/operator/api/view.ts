import { queryOptions } from '@tanstack/react-query';
import type { Middleware } from 'openapi-fetch';
import { resultOf } from '../../api/client.ts';
import { operatorApi } from './client.ts';
import { REASON } from './reason.ts';

const CUSTOMERS = '/api/console/';
const VIEW = '/operator/api/view';

/** Of this tab only, so that two tabs can view two customers. Without the operator's session it is worth nothing. */
const STORAGE_KEY = 'tollgate-view';

/** Begins a view, which the page at /operator/view of this tab shows. @throws {ApiError} */
export async function beginView(
  account_id: number,
  { override, reason }: { override: boolean; reason: string },
): Promise<void> {
  const { token } = await resultOf(
    operatorApi.POST('/operator/api/accounts/{account_id}/view', {
      params: { path: { account_id }, header: { [REASON]: encodeURIComponent(reason) } },
      body: { override },
    }),
  );
  sessionStorage.setItem(STORAGE_KEY, token);
}

/** Whom the operator views as, and until when. */
export const viewQuery = queryOptions({
  queryKey: ['operator-view'],
  queryFn: ({ signal }) => resultOf(operatorApi.GET(VIEW, { signal })),
});

/** @throws {ApiError} */
export async function endView(): Promise<void> {
  await resultOf(operatorApi.DELETE(VIEW));
  sessionStorage.removeItem(STORAGE_KEY);
}

/** Asks the operators' API for what the customers' pages ask theirs, with the view's token. Changes aren't even sent. */
export const asView: Middleware = {
  onRequest({ request }) {
    const url = new URL(request.url);
    if (url.pathname.startsWith(CUSTOMERS)) {
      if (request.method !== 'GET') return Response.json(READ_ONLY, { status: READ_ONLY.status });
      url.pathname = `${VIEW}/${url.pathname.slice(CUSTOMERS.length)}`;
    }
    const sent = new Request(url, request);
    sent.headers.set('x-view-token', sessionStorage.getItem(STORAGE_KEY) ?? '');
    return sent;
  },
};

const READ_ONLY = {
  type: 'about:blank',
  title: 'A view changes nothing.',
  status: 403,
  code: 'read_only',
  request_id: '',
};
