/** What account replaces in the pages when it starts (services/account/src/console/docs-page.ts). */

export const PRODUCT_NAME = '%PRODUCT_NAME%';
