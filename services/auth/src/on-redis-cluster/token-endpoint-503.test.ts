import '../suite/on-cluster.ts';
import '../token-endpoint/503.test.ts';
