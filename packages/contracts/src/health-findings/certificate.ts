import { ok, problem, warning } from './finding.ts';
import type { Finding } from './finding.ts';

export const CERTIFICATES = 'certificates';

const DAY_MS = 86_400_000;
const WARNING_DAYS = 21;

export function certificateFinding(name: string, expiresAt: Date): Finding {
  const days = Math.floor((expiresAt.getTime() - Date.now()) / DAY_MS);
  const date = expiresAt.toISOString().slice(0, 10);
  if (days < 0) return problem(CERTIFICATES, `The certificate of ${name} expired on ${date}.`, 'Renew it.');
  if (days < WARNING_DAYS) {
    return warning(
      CERTIFICATES,
      `The certificate of ${name} expires in ${String(days)} day(s), on ${date}.`,
      'Renew it.',
    );
  }
  return ok(CERTIFICATES, `The certificate of ${name} is valid until ${date}.`);
}
