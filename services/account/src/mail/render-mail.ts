/** Plain text, and simple HTML without images or tracking. */
export type Mail = { to: string; subject: string; text: string; html: string };

/** Holds no text that a user typed, such as a name, so that strangers can't send their words through us. */
export type Wording = { subject: string; lines: readonly string[]; link?: string; closing?: string };

export function renderMail(to: string, { subject, lines, link, closing }: Wording): Mail {
  const parts = [
    ...lines,
    ...(link === undefined ? [] : [link]),
    ...(closing === undefined ? [] : [closing]),
  ];
  const paragraphs = parts.map((part) =>
    part === link ? `<p><a href="${escape(part)}">${escape(part)}</a></p>` : `<p>${escape(part)}</p>`,
  );
  return {
    to,
    subject,
    text: `${parts.join('\n\n')}\n`,
    html: `<!doctype html>\n<html lang="en"><body>\n${paragraphs.join('\n')}\n</body></html>\n`,
  };
}

function escape(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
