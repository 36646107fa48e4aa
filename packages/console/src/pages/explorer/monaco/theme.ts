import * as monaco from 'monaco-graphql/esm/monaco-editor.js';

export type Theme = 'light' | 'dark';

/** The names of the editors' themes. */
export const EDITOR_THEMES = { light: 'tollgate-light', dark: 'tollgate-dark' } as const;

/** Defines the editors' themes by the page's own colours (styles/tokens.css). */
export function defineThemes(): void {
  for (const theme of ['light', 'dark'] as const) {
    const colour = colours(theme);
    const rule = (token: string, name: string) => ({ token, foreground: colour(name).slice(1, 7) });
    monaco.editor.defineTheme(EDITOR_THEMES[theme], {
      base: theme === 'dark' ? 'vs-dark' : 'vs',
      inherit: false,
      rules: [
        rule('', 'text'),
        rule('comment', 'text-muted'),
        rule('keyword', 'accent'),
        rule('string', 'good'),
        rule('string.key.json', 'text'),
        rule('number', 'warning'),
        rule('argument.identifier.gql', 'warning'),
        rule('type.identifier.gql', 'accent'),
      ],
      colors: editorColours(colour),
    });
  }
}

function editorColours(colour: (name: string) => string): Record<string, string> {
  const [text, surface, raised, border, accent] = ['text', 'surface', 'raised', 'border', 'accent'].map(
    colour,
  );
  const of = (names: readonly string[], value = '#00000000') => names.map((name) => [name, value]);
  return Object.fromEntries([
    ...of(['foreground', 'editor.foreground', 'editorCursor.foreground', 'input.foreground'], text),
    ...of(
      ['editorWidget.foreground', 'editorHoverWidget.foreground', 'editorSuggestWidget.foreground'],
      text,
    ),
    ...of(['editorSuggestWidget.selectedForeground', 'list.focusForeground', 'quickInput.foreground'], text),
    ...of(['editor.background', 'editorGutter.background'], surface),
    ...of(
      ['editorWidget.background', 'editorHoverWidget.background', 'editorSuggestWidget.background'],
      surface,
    ),
    ...of(['quickInput.background', 'input.background', 'menu.background'], surface),
    ...of(['editorSuggestWidget.selectedBackground', 'list.hoverBackground'], raised),
    ...of(['list.focusBackground', 'quickInputList.focusBackground'], raised),
    // Of the word at the cursor, and where it stands again: Monaco's own grey leaves keywords too little contrast.
    ...of(['editor.wordHighlightBackground', 'editor.wordHighlightTextBackground'], raised),
    ...of(['editor.wordHighlightStrongBackground', 'editor.selectionHighlightBackground'], raised),
    ...of(['quickInputList.focusForeground', 'keybindingLabel.foreground'], text),
    ...of(['editorWidget.border', 'editorHoverWidget.border', 'editorSuggestWidget.border'], border),
    ...of(['focusBorder', 'textLink.foreground', 'editorSuggestWidget.highlightForeground'], accent),
    ...of(['list.highlightForeground', 'editorSuggestWidget.focusHighlightForeground'], accent),
    ...of(['editor.selectionBackground'], `${String(accent).slice(0, 7)}33`),
    ...of(['editorLineNumber.foreground', 'editorLineNumber.activeForeground'], colour('text-muted')),
    ...of(['editorError.foreground'], colour('danger')),
    ...of(['editorWarning.foreground'], colour('warning')),
    ...of(['scrollbar.shadow', 'editor.lineHighlightBorder']),
  ]) as Record<string, string>;
}

/** Reads a colour of the page, such as `text`, as `#rrggbbaa`: Monaco knows no other form. */
function colours(theme: Theme): (name: string) => string {
  const probe = document.createElement('span');
  probe.style.colorScheme = theme;
  const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  return (name) => {
    probe.style.color = `var(--${name})`;
    document.body.append(probe);
    const { color } = getComputedStyle(probe);
    probe.remove();
    if (canvas === null) return '#808080ff';
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = color;
    canvas.fillRect(0, 0, 1, 1);
    const bytes = [...canvas.getImageData(0, 0, 1, 1).data];
    return `#${bytes.map((byte) => byte.toString(16).padStart(2, '0')).join('')}`;
  };
}
