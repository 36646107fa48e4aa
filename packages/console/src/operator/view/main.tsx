import { focusManager } from '@tanstack/react-query';
import { api } from '../../api/client.ts';
import { mount } from '../../mount.tsx';
import { queryClient } from '../../query-client.ts';
import { explorer, router, signedIn } from '../../router.tsx';
import { operatorApi } from '../api/client.ts';
import { asView } from '../api/view.ts';
import { CustomerView } from './customer-view.tsx';
import { NotViewed } from './not-viewed.tsx';
import { ViewShell } from './view-shell.tsx';

/** `/operator/view`: the pages of customers, for an operator who views as one of them (docs/adr/0150, 0151). */

api.use(asView);
operatorApi.use(asView);
// Each read is an entry of the audit log: pages read when they are opened, and not again by themselves.
focusManager.setFocused(false);
queryClient.setDefaultOptions({ queries: { retry: false } });

signedIn.update({ component: ViewShell });
explorer.update({ component: NotViewed });
router.update({ ...router.options, basepath: '/operator/view' });

mount(<CustomerView />);
