import { RouterProvider } from '@tanstack/react-router';
import { Suspense, lazy } from 'react';
import { authorizationFault } from './api/brand.ts';
import { mount } from './mount.tsx';
import './styles/outline.css';
import { explorer, router } from './router.tsx';
import { lazyRouteComponent } from './shell/lazy-route-component.ts';

/** At an address of OAuth's, which the router has no page for. */
const FaultPage = lazy(async () => ({
  default: (await import('./pages/entry/connect/authorization-fault.tsx')).AuthorizationFaultPage,
}));

explorer.update({
  component: lazyRouteComponent(() => import('./pages/explorer/explorer.tsx'), 'ExplorerPage'),
});

mount(
  authorizationFault === null ? (
    <RouterProvider router={router} />
  ) : (
    <Suspense>
      <FaultPage fault={authorizationFault} />
    </Suspense>
  ),
);
