import { z } from 'zod';

const PROTOCOLS = ['https:', 'http:', 'syslog+tls:'];

/** `AUDIT_STREAM_URL`: the operators' own server, which may be inside of their network. */
export const auditStreamUrl = z
  .string()
  .refine((value) => {
    if (!URL.canParse(value)) return false;
    const { protocol, hostname, username, password, hash, pathname, search } = new URL(value);
    if (!PROTOCOLS.includes(protocol) || hostname === '' || hash !== '') return false;
    if (username !== '' || password !== '') return false;
    return protocol !== 'syslog+tls:' || (['', '/'].includes(pathname) && search === '');
  }, 'must be an https:// or http:// URL, or syslog+tls://host:port, without a user')
  .meta({ values: '`https://…`, `http://…`, `syslog+tls://host:port`' });

export function checkAuditStream(
  settings: { AUDIT_STREAM_URL?: string | undefined; AUDIT_STREAM_SECRET?: readonly string[] | undefined },
  context: z.RefinementCtx,
): void {
  const { AUDIT_STREAM_URL: url, AUDIT_STREAM_SECRET: secrets } = settings;
  if (url !== undefined && url.startsWith('http') && secrets === undefined) {
    const message = 'is required with a webhook in AUDIT_STREAM_URL';
    context.addIssue({ code: 'custom', path: ['AUDIT_STREAM_SECRET'], message });
  }
}
