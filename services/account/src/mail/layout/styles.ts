import { DARK, LIGHT } from './palette.ts';
import { markup } from './html.ts';
import type { Html } from './html.ts';

/** A name or an address may be one long word: it breaks, and doesn't widen the mail. Old clients know the first alone. */
const BREAKS = 'word-break:break-word;overflow-wrap:anywhere';

const FONT =
  "font-family:Inter,-apple-system,BlinkMacSystemFont,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif";
const MEDIUM = `font-size:15px;line-height:24px;${FONT}`;
const SMALL = `font-size:13px;line-height:20px;${FONT}`;

/** Inline, because many mail clients drop style sheets: the light theme. */
export const STYLES = {
  page: `margin:0;padding:0;background-color:${LIGHT.page}`,
  preview: 'display:none;max-height:0;overflow:hidden;mso-hide:all',
  outer: `padding:32px 16px;background-color:${LIGHT.page}`,
  column: `width:100%;max-width:560px;table-layout:fixed;${BREAKS}`,
  product: `padding:0 0 16px;font-weight:600;color:${LIGHT.text};${MEDIUM}`,
  logo: 'margin-right:8px;border:0;vertical-align:middle',
  card: `padding:28px 24px 16px;background-color:${LIGHT.surface};border:1px solid ${LIGHT.border};border-radius:6px`,
  heading: `margin:0 0 16px;font-size:20px;line-height:28px;font-weight:600;color:${LIGHT.text};${FONT}`,
  paragraph: `margin:0 0 16px;color:${LIGHT.text};${MEDIUM}`,
  small: `margin:0 0 12px;color:${LIGHT.textMuted};${SMALL}`,
  facts: 'width:100%;margin:0 0 16px',
  factLabel: `width:1%;padding:4px 24px 4px 0;white-space:nowrap;font-weight:400;color:${LIGHT.textMuted};${SMALL}`,
  factValue: `padding:4px 0;color:${LIGHT.text};${SMALL}`,
  buttonRow: 'margin:8px 0 16px',
  buttonCell: `border-radius:6px;background-color:${LIGHT.accent}`,
  button: `display:inline-block;padding:8px 16px;border-radius:6px;font-weight:600;text-decoration:none;color:${LIGHT.onAccent};${MEDIUM}`,
  link: `color:${LIGHT.accent};text-decoration:underline`,
  rule: `height:0;margin:8px 0 16px;border:0;border-top:1px solid ${LIGHT.border}`,
  footer: `padding:16px 0 0;color:${LIGHT.textMuted};${SMALL}`,
} as const;

/** The dark theme, for the clients that read it. The others keep the light one, or invert it themselves. */
export const DARK_THEME: Html = markup`<style>
:root { color-scheme: light dark; }
@media (prefers-color-scheme: dark) {
  .page { background-color: ${DARK.page} !important; }
  .card { background-color: ${DARK.surface} !important; border-color: ${DARK.border} !important; }
  .text { color: ${DARK.text} !important; }
  .muted { color: ${DARK.textMuted} !important; }
  .link { color: ${DARK.accent} !important; }
  .rule { border-color: ${DARK.border} !important; }
  .button-cell { background-color: ${DARK.accent} !important; }
  .button { color: ${DARK.onAccent} !important; }
}
</style>`;
