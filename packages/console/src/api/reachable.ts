import { isViewing } from './viewing.ts';

/** Whether Tollgate answers this browser. */
export async function isReachable(): Promise<boolean> {
  if (!navigator.onLine) return false;
  const [page, headers] = [isViewing ? '/operator/view' : '/user', { accept: 'text/html' }];
  const response = await fetch(page, { method: 'HEAD', cache: 'no-store', headers }).catch(() => null);
  return response?.ok === true;
}
