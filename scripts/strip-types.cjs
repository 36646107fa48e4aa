// Jest's transform: strips types the way Node.js does when it runs the services, and nothing more.
const { stripTypeScriptTypes } = require('node:module');

module.exports = {
  process: (source, path) => ({ code: stripTypeScriptTypes(source, { mode: 'strip', sourceUrl: path }) }),
};
