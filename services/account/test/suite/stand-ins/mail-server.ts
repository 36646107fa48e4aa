import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { SMTPServer } from 'smtp-server';

export type MailServer = {
  url: string;
  /** As they came, oldest first. */
  received: string[];
  refuse: (status: number | undefined) => void;
  close: () => Promise<void>;
};

/** A real SMTP server that keeps what it is sent, with a user and a password. */
export async function openMailServer(): Promise<MailServer> {
  const received: string[] = [];
  let refusal: number | undefined;
  const server = new SMTPServer({
    disabledCommands: ['STARTTLS'],
    allowInsecureAuth: true,
    onAuth: ({ username, password }, _session, done) => {
      if (username === 'tollgate' && password === 'mail-password') done(null, { user: username });
      else done(new Error('wrong user'));
    },
    onRcptTo: ({ address }, _session, done) => {
      done(
        refusal === undefined
          ? null
          : Object.assign(new Error(`no mail for ${address}`), { responseCode: refusal }),
      );
    },
    onData: (stream, _session, done) => {
      void text(stream).then((message) => {
        received.push(message);
        done(null);
      });
    },
  });
  server.on('error', () => undefined);
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.server.address() as AddressInfo;
  return {
    url: `smtp://tollgate:mail-password@127.0.0.1:${String(port)}`,
    received,
    refuse: (status) => {
      refusal = status;
    },
    close: () =>
      new Promise<void>((resolve) => {
        server.close(resolve);
      }),
  };
}

export function smtpSettings(url: string) {
  return { SMTP_URL: url, MAIL_FROM: 'Tollgate <no-reply@tollgate.example>' };
}
