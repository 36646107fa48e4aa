import type { RequestHandler } from 'express';
import helmet from 'helmet';

/** Browser protection for the whole public listener: nothing loads, unless a page states a policy of its own. */
export const browserProtection: RequestHandler = helmet({
  xFrameOptions: { action: 'deny' },
  contentSecurityPolicy: {
    useDefaults: false,
    directives: {
      defaultSrc: ["'none'"],
      baseUri: ["'none'"],
      formAction: ["'none'"],
      frameAncestors: ["'none'"],
    },
  },
});
