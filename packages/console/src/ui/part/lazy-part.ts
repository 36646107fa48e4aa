import { lazy } from 'react';
import type { ComponentType, LazyExoticComponent } from 'react';
import { loadPart } from './load-part.ts';

/** A part of a page that loads on demand: an outage while it loads leaves its placeholder, and the rest of the page. */
export function lazyPart<Props>(
  importer: () => Promise<ComponentType<Props>>,
): LazyExoticComponent<ComponentType<Props>> {
  return lazy(async () => ({ default: await loadPart(importer) }));
}
