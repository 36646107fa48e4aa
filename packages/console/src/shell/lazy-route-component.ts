import { lazyRouteComponent as reloadingRouteComponent } from '@tanstack/react-router';
import { isReachable } from '../api/reachable.ts';
import { reloadStyles } from '../ui/part/load-part.ts';

/** A page's script could not be loaded because Tollgate cannot be reached. */
export class PageUnreachable extends Error {
  constructor(cause: unknown) {
    super('The page cannot be reached.', { cause });
    this.name = 'PageUnreachable';
  }
}

/**
 * TanStack Router's, which reloads the browser once if a page's script is gone after an update. Without a connection
 * that would replace a page that works by the browser's own error page. A request that was only lost, such as when the
 * machine changes its network, is sent once more.
 */
export const lazyRouteComponent: typeof reloadingRouteComponent = (importer, exportName) =>
  reloadingRouteComponent(
    () =>
      importer().catch(async (cause: unknown) => {
        if (!(await isReachable())) throw new PageUnreachable(cause);
        await reloadStyles();
        return importer();
      }),
    exportName,
  );
