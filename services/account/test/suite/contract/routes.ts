import type { RequestListener } from 'node:http';

/** The parts of Express' router that its types leave out. */
type App = { router: { stack: Layer[] } };

type Layer = {
  /** Where a router is mounted. */
  rawPath?: unknown;
  route?: { path: string; methods: Record<string, boolean> };
  handle?: { stack?: Layer[] };
};

/**
 * Routes of an app and its routers, as `GET /api/console/team/{id}`; handlers of all methods (405) are left out.
 * @throws {Error} for a router mounted at a pattern, whose paths are unknown
 */
export function routesOf(app: RequestListener): string[] {
  const { router } = app as unknown as App;
  return listed(router.stack, '');
}

function listed(stack: readonly Layer[], prefix: string): string[] {
  return stack.flatMap(({ rawPath, route, handle }) => {
    if (route !== undefined) {
      const path = `${prefix}${route.path.replaceAll(/:(\w+)/g, '{$1}')}`;
      const methods = Object.keys(route.methods).filter((method) => /^[a-z]+$/.test(method));
      return methods.map((method) => `${method.toUpperCase()} ${path}`);
    }
    if (handle?.stack === undefined) return [];
    if (typeof rawPath !== 'string') throw new Error(`a router is mounted at ${String(rawPath)}`);
    return listed(handle.stack, rawPath === '/' ? prefix : `${prefix}${rawPath}`);
  });
}
