import '../suite/on-cluster.ts';
import '../token-endpoint/401.test.ts';
