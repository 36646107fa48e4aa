import type { MailContent, MailLink, MailSite } from './mail-content.ts';
import { hostOf } from './html-body.ts';

/** The same content as the HTML, in the same order. Links stand on lines of their own, so that no client breaks them. */
export function textBody(content: MailContent, { publicUrl, productName }: MailSite): string {
  const { subject, lines, facts = [], action, closing = [] } = content;
  const blocks = [
    subject,
    ...lines,
    ...(facts.length === 0 ? [] : [facts.map(([label, value]) => `${label}: ${value}`).join('\n')]),
    ...(action === undefined ? [] : [linkLines(action)]),
    ...closing.map((each) => (typeof each === 'string' ? each : linkLines(each))),
    `--\nSent by ${productName} · ${hostOf(publicUrl)}\n${publicUrl}/user`,
  ];
  return `${blocks.join('\n\n')}\n`;
}

function linkLines({ label, href }: MailLink): string {
  return `${label}:\n${href}`;
}
