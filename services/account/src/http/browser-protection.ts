import type { StrictTransportSecurity } from '@tollgate/config/settings';
import type { RequestHandler } from 'express';
import helmet from 'helmet';

/** For the whole public listener: nothing loads, unless a page sets its own policy. */
export const browserProtection = (strictTransportSecurity: StrictTransportSecurity): RequestHandler =>
  helmet({
    strictTransportSecurity,
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
