/**
 * express-gateway with its policies oauth2-introspect and proxy, as one process. Goal: ours ≥ 3 times.
 *
 * Fairness. The same for both: Node.js and its version, NODE_ENV=production, one core, plain HTTP, the same
 * requests, the same upstream over kept-alive connections, tokens introspected at our auth service and cached
 * for 30 s, no access log.
 * In the peer's favour: its cache is in its own memory (its emulated Redis, not a server), and it doesn't
 * entitle, limit or meter. In our favour: nothing but that Redis works on another core, which the peer doesn't
 * need here.
 */
require('express-gateway')().load(process.env.CONFIG).run();
