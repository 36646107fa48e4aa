type Palette = Readonly<
  Record<'page' | 'surface' | 'border' | 'text' | 'textMuted' | 'accent' | 'onAccent', string>
>;

/** The interface's colours (packages/console/src/styles/tokens.css) in sRGB: mail clients know no OKLCH. */
export const LIGHT: Palette = {
  page: '#f9fafb',
  surface: '#ffffff',
  border: '#d9dbde',
  text: '#191a1f',
  textMuted: '#555861',
  accent: '#4455c2',
  onAccent: '#fcfcfc',
};

export const DARK: Palette = {
  page: '#0e0f12',
  surface: '#16171a',
  border: '#2e3036',
  text: '#eaebee',
  textMuted: '#a8abb1',
  accent: '#90a6f7',
  onAccent: '#0d111f',
};
