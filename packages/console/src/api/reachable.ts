/** Whether Tollgate answers this browser. */
export async function isReachable(): Promise<boolean> {
  if (!navigator.onLine) return false;
  const response = await fetch('/user', { method: 'HEAD', cache: 'no-store' }).catch(() => null);
  return response?.ok === true;
}
