import type { MailContent, MailLink, MailSite } from './mail-content.ts';
import { markup } from './html.ts';
import type { Html } from './html.ts';
import { DARK_THEME, STYLES } from './styles.ts';

/** How the page names the logo that comes with the mail (RFC 2392). */
export const LOGO_CID = 'logo';

/** Tables and inline styles, which all mail clients lay out alike. No script, and nothing loaded. */
export function htmlBody(content: MailContent, { publicUrl, productName, logo }: MailSite): string {
  const { subject, lines } = content;
  return markup`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="supported-color-schemes" content="light dark">
<title>${subject}</title>
${DARK_THEME}
</head>
<body class="page" style="${STYLES.page}">
<div style="${STYLES.preview}">${lines[0] ?? ''}</div>
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0"><tr>
<td class="page" align="center" style="${STYLES.outer}">
<table role="presentation" cellpadding="0" cellspacing="0" border="0" style="${STYLES.column}">
<tr><td class="text" align="left" style="${STYLES.product}">${logo === null ? '' : LOGO}<bdi>${productName}</bdi></td></tr>
<tr><td class="card" align="left" style="${STYLES.card}">
<h1 class="text" style="${STYLES.heading}">${subject}</h1>
${blocksOf(content)}</td></tr>
<tr><td class="muted" align="left" style="${STYLES.footer}">Sent by <bdi>${productName}</bdi> · <a class="link" href="${publicUrl}/user" style="${STYLES.link}">${hostOf(publicUrl)}</a></td></tr>
</table>
</td>
</tr></table>
</body>
</html>
`.html;
}

const LOGO = markup`<img src="cid:${LOGO_CID}" alt="" width="24" height="24" style="${STYLES.logo}">`;

export function hostOf(publicUrl: string): string {
  return new URL(publicUrl).host;
}

function blocksOf({ lines, facts = [], action, closing = [] }: MailContent): Html[] {
  return [
    ...lines.map(paragraph),
    ...(facts.length === 0 ? [] : [factTable(facts)]),
    ...(action === undefined ? [] : [button(action)]),
    ...(closing.length === 0 ? [] : [markup`<hr class="rule" style="${STYLES.rule}">\n`]),
    ...closing.map((each) => small(typeof each === 'string' ? markup`${each}` : textLink(each))),
  ];
}

function paragraph(text: string): Html {
  return markup`<p class="text" style="${STYLES.paragraph}">${text}</p>\n`;
}

function small(content: Html): Html {
  return markup`<p class="muted" style="${STYLES.small}">${content}</p>\n`;
}

function textLink({ label, href }: MailLink): Html {
  return markup`<a class="link" href="${href}" style="${STYLES.link}">${label}</a>`;
}

/** The address is shown too, for clients without buttons and for people who look before they click. */
function button({ label, href }: MailLink): Html {
  return markup`<table role="presentation" cellpadding="0" cellspacing="0" border="0" style="${STYLES.buttonRow}"><tr>
<td class="button-cell" style="${STYLES.buttonCell}"><a class="button" href="${href}" style="${STYLES.button}">${label}</a></td>
</tr></table>
${small(markup`Or open this link: ${textLink({ label: href, href })}`)}`;
}

function factTable(facts: NonNullable<MailContent['facts']>): Html {
  const rows = facts.map(
    ([label, value]) => markup`<tr>
<th class="muted" scope="row" align="left" valign="top" style="${STYLES.factLabel}">${label}</th>
<td class="text" align="left" valign="top" style="${STYLES.factValue}">${value}</td>
</tr>
`,
  );
  return markup`<table cellpadding="0" cellspacing="0" border="0" style="${STYLES.facts}">
${rows}</table>
`;
}
