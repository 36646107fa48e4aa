import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createTransport } from 'nodemailer';
import type { Mail } from './render-mail.ts';

export type MailTransport = {
  /** Hands a mail over; resolves when it is out of our hands. `id` names it in a folder. */
  send: (mail: Mail, id: number) => Promise<void>;
  close: () => void;
};

/**
 * Sends by SMTP. `timeoutMs` bounds each wait for the server, and the whole attempt: a server that never
 * answers, or only drop by drop, holds one attempt and nothing else.
 */
export function smtpTransport(options: { url: string; from: string; timeoutMs: number }): MailTransport {
  const { url, from, timeoutMs } = options;
  const transport = createTransport({
    url,
    connectionTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    socketTimeout: timeoutMs,
    dnsTimeout: timeoutMs,
    // Nothing in a mail of ours is read from a file or fetched.
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return {
    send: async (mail) => {
      // Ends the connection as well: an attempt that is given up delivers nothing later.
      const signal = AbortSignal.timeout(timeoutMs);
      try {
        await transport.sendMail({ from, ...mail, headers: NO_AUTO_REPLY, signal });
      } catch (error) {
        throw signal.aborted ? new MailTimeoutError(timeoutMs) : error;
      }
    },
    close: () => {
      transport.close();
    },
  };
}

/** Writes mails as files, for whoever has no mail server: `<id>-<time>.eml`, readable by this user alone. */
export function folderTransport(options: { directory: string; from: string }): MailTransport {
  const { directory, from } = options;
  const transport = createTransport({ streamTransport: true, buffer: true, newline: 'windows' });
  return {
    send: async (mail, id) => {
      const { message } = await transport.sendMail({ from, ...mail, headers: NO_AUTO_REPLY });
      await mkdir(directory, { recursive: true, mode: 0o700 });
      const file = join(directory, `${String(id)}-${String(Date.now())}.eml`);
      // Whoever waits for the file finds all of it.
      await writeFile(`${file}.part`, message as Buffer, { mode: 0o600 });
      await rename(`${file}.part`, file);
    },
    close: () => {
      transport.close();
    },
  };
}

/** RFC 3834: no out-of-office answers. */
const NO_AUTO_REPLY = { 'Auto-Submitted': 'auto-generated' };

class MailTimeoutError extends Error {
  readonly code = 'ETIMEDOUT';

  constructor(timeoutMs: number) {
    super(`the mail server took longer than ${String(timeoutMs)} ms`);
  }
}

/**
 * What may be logged of a failure: codes. A server's words can repeat the recipient or the message.
 */
export function failureCodes(error: unknown): { code: string; smtp_status: number | undefined } {
  const { code, responseCode } = (error ?? {}) as { code?: unknown; responseCode?: unknown };
  return {
    code: typeof code === 'string' ? code : 'unknown',
    smtp_status: typeof responseCode === 'number' ? responseCode : undefined,
  };
}

/** Whether a server has refused this recipient or this message for good (RFC 5321, section 4.2.1). */
export function isRefusedForGood(error: unknown): boolean {
  const { code, smtp_status } = failureCodes(error);
  return (code === 'EENVELOPE' || code === 'EMESSAGE') && (smtp_status ?? 0) >= 500;
}
