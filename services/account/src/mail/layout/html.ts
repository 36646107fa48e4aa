/** Markup whose values are escaped. Only `markup` makes it. */
export type Html = { readonly html: string };

type Value = string | Html | readonly Html[];

/** A tagged template that escapes every value that isn't Html itself, also inside quoted attributes. */
export function markup(parts: TemplateStringsArray, ...values: readonly Value[]): Html {
  return { html: String.raw({ raw: parts }, ...values.map(htmlOf)) };
}

function htmlOf(value: Value): string {
  if (typeof value === 'string') return escape(value);
  return 'html' in value ? value.html : value.map(({ html }) => html).join('');
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escape(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? '');
}
