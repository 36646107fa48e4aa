/**
 * What a mail says; render-mail.ts turns it into HTML and text. Holds no text that a stranger typed, such as a name, so that
 * no one can send their words through us (docs/design/identity.md).
 */
export type MailContent = {
  to: string;
  subject: string;
  lines: readonly string[];
  facts?: readonly (readonly [label: string, value: string])[];
  action?: MailLink;
  closing?: readonly (string | MailLink)[];
};

export type MailLink = { label: string; href: string };

/** What all mails of an installation have in common. Links start at `publicUrl`. */
export type MailSite = { publicUrl: string; productName: string };

/** A mail in both forms, ready to be sent. */
export type Mail = { to: string; subject: string; text: string; html: string };
