import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createTransport } from 'nodemailer';
import { LOGO_CID } from './layout/html-body.ts';
import type { Mail } from './layout/mail-content.ts';
import type { Sender } from './sender.ts';

export type MailTransport = {
  /** Resolves when the mail is handed over. `id` names it in a folder. */
  send: (mail: Mail, id: number) => Promise<void>;
  close: () => void;
};

/** `timeoutMs` bounds each wait for the server and the whole attempt, so that a slow server delays one attempt only. */
export function smtpTransport(options: { url: string; from: Sender; timeoutMs: number }): MailTransport {
  const { url, from, timeoutMs } = options;
  const transport = createTransport({
    url,
    connectionTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    socketTimeout: timeoutMs,
    dnsTimeout: timeoutMs,
    // Mails must not read files or fetch URLs.
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return {
    send: async (mail) => {
      // Ends the connection too, so that an abandoned attempt delivers nothing later.
      const signal = AbortSignal.timeout(timeoutMs);
      try {
        await transport.sendMail({ ...messageOf(mail, from), signal });
      } catch (error) {
        throw signal.aborted ? new MailTimeoutError(timeoutMs) : error;
      }
    },
    close: () => {
      transport.close();
    },
  };
}

/** Writes mails as `<id>-<time>.eml`, readable by this user only; for installations without a mail server. */
export function folderTransport(options: { directory: string; from: Sender }): MailTransport {
  const { directory, from } = options;
  const transport = createTransport({ streamTransport: true, buffer: true, newline: 'windows' });
  return {
    send: async (mail, id) => {
      const { message } = await transport.sendMail(messageOf(mail, from));
      await mkdir(directory, { recursive: true, mode: 0o700 });
      const file = join(directory, `${String(id)}-${String(Date.now())}.eml`);
      // Renamed at the end, so that a reader finds the complete file.
      await writeFile(`${file}.part`, message as Buffer, { mode: 0o600 });
      await rename(`${file}.part`, file);
    },
    close: () => {
      transport.close();
    },
  };
}

/** Prevents automatic replies (RFC 3834). */
const NO_AUTO_REPLY = { 'Auto-Submitted': 'auto-generated' };

function messageOf({ logo, ...mail }: Mail, from: Sender) {
  const inline = {
    filename: 'logo.png',
    content: logo ?? '',
    cid: LOGO_CID,
    contentDisposition: 'inline',
  } as const;
  return { from, ...mail, headers: NO_AUTO_REPLY, attachments: logo === null ? [] : [inline] };
}

class MailTimeoutError extends Error {
  readonly code = 'ETIMEDOUT';

  constructor(timeoutMs: number) {
    super(`the mail server took longer than ${String(timeoutMs)} ms`);
  }
}

/** Only codes may be logged: a server's text can contain the recipient or the message. */
export function failureCodes(error: unknown): { code: string; smtp_status: number | undefined } {
  const { code, responseCode } = (error ?? {}) as { code?: unknown; responseCode?: unknown };
  return {
    code: typeof code === 'string' ? code : 'unknown',
    smtp_status: typeof responseCode === 'number' ? responseCode : undefined,
  };
}

/** A permanent failure (RFC 5321, section 4.2.1). */
export function isRefusedForGood(error: unknown): boolean {
  const { code, smtp_status } = failureCodes(error);
  return (code === 'EENVELOPE' || code === 'EMESSAGE') && (smtp_status ?? 0) >= 500;
}
