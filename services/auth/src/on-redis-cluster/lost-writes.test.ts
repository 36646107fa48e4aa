import '../suite/on-cluster.ts';
import '../token/lost-writes.test.ts';
