import { once } from 'node:events';
import { connect } from 'node:tls';
import { ok, problem, skipped, warning } from './finding.ts';
import type { Finding } from './finding.ts';

const CHECK = 'certificates';
const DAY_MS = 86_400_000;
const WARNING_DAYS = 21;

export function certificateFinding(name: string, expiresAt: Date): Finding {
  const days = Math.floor((expiresAt.getTime() - Date.now()) / DAY_MS);
  const date = expiresAt.toISOString().slice(0, 10);
  if (days < 0) return problem(CHECK, `The certificate of ${name} expired on ${date}.`, 'Renew it.');
  if (days < WARNING_DAYS) {
    return warning(
      CHECK,
      `The certificate of ${name} expires in ${String(days)} day(s), on ${date}.`,
      'Renew it.',
    );
  }
  return ok(CHECK, `The certificate of ${name} is valid until ${date}.`);
}

/** Of an https URL's server. An untrusted certificate is read too, since its date is what is asked for. */
export async function checkPublicCertificate(publicUrl: string, timeoutMs: number): Promise<Finding> {
  const { protocol, hostname, port } = new URL(publicUrl);
  if (protocol !== 'https:') return skipped(CHECK, `${publicUrl} is not https.`);
  const socket = connect({
    host: hostname,
    port: port === '' ? 443 : Number(port),
    servername: hostname,
    rejectUnauthorized: false,
  });
  try {
    await once(socket, 'secureConnect', { signal: AbortSignal.timeout(timeoutMs) });
    const { valid_to } = socket.getPeerCertificate();
    return certificateFinding(publicUrl, new Date(valid_to));
  } catch {
    return problem(
      CHECK,
      `${publicUrl} can't be reached with TLS.`,
      "Check the ingress and account's PUBLIC_URL.",
    );
  } finally {
    socket.destroy();
  }
}
