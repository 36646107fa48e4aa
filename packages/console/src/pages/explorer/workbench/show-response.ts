/** As the layout: one column, with the response below the query. */
const NARROW = matchMedia('(max-width: 60rem)');

export function showResponse(): void {
  if (NARROW.matches) document.getElementById('response')?.scrollIntoView();
}
