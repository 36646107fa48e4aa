/**
 * http-proxy-middleware alone behind Express: what forwarding costs without checks. No goal.
 *
 * The same for both: Node.js and its version, NODE_ENV=production, one core, plain HTTP, requests, upstream
 * and kept-alive connections. In the peer's favour: it introspects, entitles, limits and meters nothing.
 */
import { Agent } from 'node:http';
import express from 'express';
import { createProxyMiddleware } from 'http-proxy-middleware';

const { PORT = '', UPSTREAM = '' } = process.env;

express()
  .disable('x-powered-by')
  .use(createProxyMiddleware({ target: UPSTREAM, agent: new Agent({ keepAlive: true }) }))
  .listen(Number(PORT), '127.0.0.1');
