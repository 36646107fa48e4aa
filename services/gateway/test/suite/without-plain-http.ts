import { withoutPlainHttp } from '@tollgate/testbed/config';

// Set-up file of Jest's project plain-http-off, which loads it before the suite.
withoutPlainHttp();
