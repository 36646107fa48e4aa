import '../suite/on-cluster.ts';
import '../token-endpoint/200.test.ts';
