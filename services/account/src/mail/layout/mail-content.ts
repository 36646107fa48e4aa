/**
 * What a mail says; render-mail.ts turns it into HTML and text. Holds no text that a stranger typed, so that no one can
 * send their words through us (docs/design/deliveries.md); an invitation names the team if its name is plain.
 */
export type MailContent = {
  to: string;
  /** Also the heading; render-mail.ts puts the product's name before it. */
  subject: string;
  lines: readonly string[];
  facts?: readonly (readonly [label: string, value: string])[];
  action?: MailLink;
  closing?: readonly (string | MailLink)[];
};

export type MailLink = { label: string; href: string };

/** What all mails of an installation have in common. Links start at `publicUrl`. */
export type MailSite = {
  publicUrl: string;
  productName: string;
  /** Where customers ask; null if there is no address. */
  supportUrl: string | null;
  /** A PNG; null for none. */
  logo: Buffer | null;
};

/** A mail in both forms, ready to be sent. */
export type Mail = { to: string; subject: string; text: string; html: string; logo: Buffer | null };
