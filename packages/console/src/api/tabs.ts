/** What one tab tells the browser's others. The cookie is theirs, too; their caches and forms are their own. */
export type SessionChange = 'signed-in' | 'signed-out';

const channel = new BroadcastChannel('tollgate-session');

/** Of customers and of operators, who have consoles at different origins. */
const SESSIONS =
  /^\/(?:api\/console\/sessions?(?:\/[a-z-]+)?|operator\/api\/(?:session|enrolment|sign-in\/(?:passkey|link)))$/;

/** Tells the other tabs that a request of this one has begun or ended the session. */
export function announceSessionChange({ method, url }: Pick<Request, 'method' | 'url'>): void {
  const { pathname } = new URL(url);
  if (!SESSIONS.test(pathname)) return;
  if (method === 'POST') channel.postMessage('signed-in' satisfies SessionChange);
  if (method === 'DELETE') channel.postMessage('signed-out' satisfies SessionChange);
}

/** Calls the listener when another tab has signed in or out. Returns what stops it. */
export function onSessionChange(listener: (change: SessionChange) => void): () => void {
  const take = ({ data }: MessageEvent<SessionChange>) => {
    listener(data);
  };
  channel.addEventListener('message', take);
  return () => {
    channel.removeEventListener('message', take);
  };
}
