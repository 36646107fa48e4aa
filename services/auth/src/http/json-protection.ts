import type { StrictTransportSecurity } from '@tollgate/config/settings';
import helmet from 'helmet';

/**
 * The headers that OWASP's REST Security Cheat Sheet lists; each costs half a percent of a token
 * (docs/design/tokens.md).
 */
export const jsonProtection = (strictTransportSecurity: StrictTransportSecurity) =>
  helmet({
    strictTransportSecurity,
    contentSecurityPolicy: {
      useDefaults: false,
      directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] },
    },
    xFrameOptions: { action: 'deny' },
    crossOriginOpenerPolicy: false,
    originAgentCluster: false,
    referrerPolicy: false,
    xDnsPrefetchControl: false,
    xDownloadOptions: false,
    xPermittedCrossDomainPolicies: false,
    xXssProtection: false,
  });
