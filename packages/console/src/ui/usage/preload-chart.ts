/** For a page whose figures are on their way: the chart's script needn't wait for them. */
export function preloadChart(): void {
  // A failure shows when the chart is drawn.
  import('../chart/plot.tsx').catch(() => undefined);
}
