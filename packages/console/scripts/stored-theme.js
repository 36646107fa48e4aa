/* global document, localStorage */
// Sets the stored theme (src/shell/theme-switch.tsx) before the first paint; modules run after it.
{
  const stored = localStorage.getItem('tollgate-theme');
  if (stored === 'light' || stored === 'dark') document.documentElement.dataset.theme = stored;
}
