import helmet from 'helmet';

/**
 * The security headers of answers that are JSON for programs: what a browser that is led to one must not do with
 * it (OWASP REST Security Cheat Sheet, "Security Headers"). helmet's others speak of what a page may do, and each
 * is half a percent of a token's cost (ADR 0036).
 */
export const jsonProtection = helmet({
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
