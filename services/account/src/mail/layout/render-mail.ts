import type { Mail, MailContent, MailSite } from './mail-content.ts';
import { htmlBody } from './html-body.ts';
import { textBody } from './text-body.ts';

export function renderMail(content: MailContent, site: MailSite): Mail {
  const { to, subject } = content;
  return {
    to,
    subject: `[${site.productName}] ${subject}`,
    text: textBody(content, site),
    html: htmlBody(content, site),
    logo: site.logo,
  };
}
