import { once } from 'node:events';
import { connect } from 'node:tls';
import { CERTIFICATES, certificateFinding } from '@tollgate/contracts/health-findings/certificate';
import { problem, skipped } from '@tollgate/contracts/health-findings/finding';
import type { Finding } from '@tollgate/contracts/health-findings/finding';

/** Of an https URL's server. An untrusted certificate is read too, since its date is what is asked for. */
export async function checkPublicCertificate(publicUrl: string, timeoutMs: number): Promise<Finding> {
  const { protocol, hostname, port } = new URL(publicUrl);
  if (protocol !== 'https:') return skipped(CERTIFICATES, `${publicUrl} is not https.`);
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
      CERTIFICATES,
      `${publicUrl} can't be reached with TLS.`,
      "Check the ingress and account's PUBLIC_URL.",
    );
  } finally {
    socket.destroy();
  }
}
