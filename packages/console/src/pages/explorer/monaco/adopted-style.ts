type AdoptedStyle = {
  sheet: CSSStyleSheet;
  textContent: string;
  innerText: string;
  remove: () => void;
};

/**
 * What Monaco uses of a `<style>` element, as a constructed style sheet: the page's policy refuses style elements.
 */
export function adoptedStyle(): AdoptedStyle {
  const sheet = new CSSStyleSheet();
  document.adoptedStyleSheets.push(sheet);
  let content = '';
  const replace = (css: string) => {
    content = css;
    sheet.replaceSync(css);
  };
  return {
    sheet,
    get textContent() {
      return content;
    },
    set textContent(css) {
      replace(css);
    },
    get innerText() {
      return content;
    },
    set innerText(css) {
      replace(css);
    },
    remove() {
      document.adoptedStyleSheets = document.adoptedStyleSheets.filter((other) => other !== sheet);
    },
  };
}
