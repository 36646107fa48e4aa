/** Monaco escapes `<` in text, so these are its own tags. */
const STYLED_TAG = /<[a-z][^<>]* style="[^<>]*>/g;

/**
 * Parses Monaco's markup and sets its style attributes through the CSSOM: the page's policy refuses those that
 * come as markup.
 */
export function styledFragment(html: { toString: () => string }): DocumentFragment {
  const template = document.createElement('template');
  template.innerHTML = html.toString().replace(STYLED_TAG, (tag) => tag.replace(' style="', ' data-style="'));
  for (const element of template.content.querySelectorAll<HTMLElement>('[data-style]')) {
    element.style.cssText = element.dataset['style'] ?? '';
    delete element.dataset['style'];
  }
  return template.content;
}
