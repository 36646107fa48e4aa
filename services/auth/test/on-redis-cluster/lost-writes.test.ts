import '../suite/on-cluster.ts';
import '../../src/token/lost-writes.test.ts';
